package differential

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// platform is what is known of a control plane beside its objects: the kinds that it
// serves, and the release whose rules it follows, the newest one when it is empty.
type platform struct {
	*object.Resources
	release string
	// own tells that the collector is that of the program, which is the same over every
	// release.
	own bool
}

func (p platform) rules() release.Rules {
	return release.Of(release.MinorOf(p.release))
}

// groundUID begins the UID of a namespace that a world has and does not list.
const groundUID = "ground-"

// ground are the namespaces of a world that lists none: they are there wherever it stands.
func ground(world []*object.Object) []*object.Object {
	var all []*object.Object
	known := map[string]bool{"": true}
	for _, o := range world {
		if o.NamespaceFacts() != nil {
			return nil
		}
		if known[o.Namespace] {
			continue
		}
		known[o.Namespace] = true
		ns := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace, UID: types.UID(groundUID + o.Namespace)}}
		ns.Edit().Facts = &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}
		all = append(all, ns)
	}
	return all
}

// listed are the objects without the ground that they stand on.
func listed(objects []*object.Object) []*object.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o *object.Object) bool { return strings.HasPrefix(string(o.UID), groundUID) })
}

// snapshot is a world as a dry run gets it.
func (p platform) snapshot(world []*object.Object) (*snapshot.Snapshot, error) {
	return snapshot.New(append(clones(world), ground(world)...), p.Resources, snapshot.CoversEverything(), snapshot.Source{KubernetesVersion: p.release})
}

// server is a simulated API server over a world.
func (p platform) server(world []*object.Object) *apisim.Server {
	return apisim.New(append(clones(world), ground(world)...), p.Resources, apisim.WithRules(p.rules()))
}

// collector is a simulated garbage collector.
func (p platform) collector() *engine.Collector {
	if p.own {
		return engine.New()
	}
	return engine.New(engine.WithRelease(p.rules()))
}
