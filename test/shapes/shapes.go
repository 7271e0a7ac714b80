package shapes

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	_ "github.com/kubectl-gc/kubectl-gc/internal/codec/all" // Save compresses
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Shape is a way in which clusters are large.
type Shape struct {
	Name string
	// Has says what it has much of.
	Has  string
	draw func(*world)
}

// All are the shapes, in a fixed order.
func All() []Shape {
	return []Shape{
		{"applications", "custom resources that own Deployments, pods that share a claim, a namespace for every 2,000 objects", applications},
		{"one-namespace", "one Deployment, its ReplicaSets and as many pods in each, in one namespace", oneNamespace},
		{"namespaces", "up to 5,000 namespaces with a few applications in each", manyNamespaces},
		{"crds", "200 CRDs whose instances own each other", customResources},
		{"operators", "trees of custom resources, ten levels deep, all references blocking", operators},
		{"finalizers", "finalizers, some on what is being deleted", finalizers},
		{"events", "Events, nine of ten objects", events},
		{"jobs", "CronJobs, Jobs and their pods, a third of them of one CronJob", jobs},
		{"storage", "StatefulSets, claims, volumes and their attachments", storage},
		{"snapshots", "VolumeSnapshots, their contents and claims, a tenth of them being deleted", volumeSnapshots},
		{"uids", "the same as one-namespace, with uids that are no UUIDs", strangeUIDs},
		{"metadata", "the same as one-namespace, of whose pods only metadata was seen", metadata},
		{"listed", "the same as one-namespace, of which Deployments, ReplicaSets and pods were seen and nothing else", listed},
	}
}

// Named is the shape with that name.
func Named(name string) (Shape, error) {
	all := All()
	if i := slices.IndexFunc(all, func(s Shape) bool { return s.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Shape{}, fmt.Errorf("there is no shape %q", name)
}

// Cluster is a cluster of a shape, and what is asked of it.
type Cluster struct {
	Objects   []*object.Object
	Resources *object.Resources
	// Root has more below it than anything else, Middle what a usual owner has.
	Root, Middle object.Ref
	// Asked are objects that explain is asked about.
	Asked []object.Ref
	// Namespace has as much in it as any other.
	Namespace string

	coverage *snapshot.Coverage
	extra    [][]string
}

// Cluster draws a cluster of about n objects, a thousand at the least.
func (s Shape) Cluster(n int, seed uint64) *Cluster {
	w := &world{
		n: n, resources: snapshot.BuiltinResources(), coverage: snapshot.CoversEverything(),
		chance: rand.New(rand.NewPCG(seed, 1)), texts: map[string]string{},
	}
	w.uid = w.uuid
	s.draw(w)
	return &Cluster{
		Objects: w.objects, Resources: w.resources, Root: w.root.Ref, Middle: w.middle.Ref, Asked: w.asked,
		Namespace: w.namespace, coverage: w.coverage, extra: w.extra,
	}
}

// Snapshot is the cluster as it was seen.
func (c *Cluster) Snapshot() (*snapshot.Snapshot, error) {
	return snapshot.New(c.Objects, c.Resources, c.coverage, snapshot.Source{
		TakenAt: taken, KubernetesVersion: "v1.37.2", Discovered: true,
	})
}

// Save writes the cluster to a new file, as the program does with --to.
func (c *Cluster) Save(file string) error {
	snap, err := c.Snapshot()
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(snap.Write(f, snapshot.Zstd, snapshot.Evidence{}), f.Close())
}

// Commands are the command lines that are asked of the cluster, without the --from that
// says where it is.
func (c *Cluster) Commands() [][]string {
	commands := [][]string{
		{"check"},
		{"stuck", "-A"},
		{"doctor"},
		{"collect"},
		{"risk", "--top", "10"},
		{"graph"},
		{"graph", "-o", "json"},
		{"graph", "-o", "svg"},
		{"snapshot", "--to", "-"},
		{"__complete", "explain", "pods", "-n", c.Namespace, ""},
		c.about(c.Middle, "graph"),
		c.about(c.Middle, "explain"),
		c.about(c.Root, "explain"),
	}
	for _, asked := range c.Asked {
		commands = append(commands, c.about(asked, "explain"))
	}
	commands = append(commands,
		c.about(c.Middle, "dry-run", "delete"),
		c.about(c.Root, "dry-run", "delete"),
		append(c.about(c.Root, "dry-run", "delete"), "-o", "json"),
		append(c.about(c.Root, "dry-run", "delete"), "--steps"),
		append(c.about(c.Root, "dry-run", "delete"), "--cascade=foreground"),
		append(c.about(c.Root, "dry-run", "delete"), "--cascade=orphan"),
		[]string{"dry-run", "delete", "nodes", "node-0001", "--ignore-not-found"},
		[]string{"dry-run", "delete", "pods", "--all", "-n", c.Namespace},
	)
	return append(commands, c.extra...)
}

// about is a command about an object.
func (c *Cluster) about(ref object.Ref, words ...string) []string {
	name := ref.Kind
	if r, err := c.Resources.For(ref.APIVersion, ref.Kind); err == nil {
		name = r.GroupResource().String()
	}
	words = append(words, fmt.Sprintf("%s/%s", name, ref.Name))
	if ref.Namespace != "" {
		words = append(words, "-n", ref.Namespace)
	}
	return words
}
