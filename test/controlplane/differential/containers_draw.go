package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// The finalizers of Kubernetes that drawn objects have.
const (
	claimProtection  = "kubernetes.io/pvc-protection"
	volumeProtection = "kubernetes.io/pv-protection"
	jobTracking      = "batch.kubernetes.io/job-tracking"
	definitionClean  = "customresourcecleanup.apiextensions.k8s.io"
	namespaceToken   = "kubernetes"
	drawnGroup       = "example.com"
)

// drawer draws a world with namespaces, definitions and whatever protects what is
// in them.
type drawer struct {
	*rand.Rand
	objects    []*object.Object
	namespaces []string
	// instances are the kinds of the definitions.
	instances []drawnKind
	// unbound are the claims without a volume.
	unbound []*object.Object
}

// drawnKind is a kind of the content of a drawn world.
type drawnKind struct {
	apiVersion, kind string
	clusterScoped    bool
	weight           int
}

var (
	namespacedInstance = drawnKind{drawnGroup + "/v1", "Widget", false, 6}
	clusterInstance    = drawnKind{drawnGroup + "/v1", "Gadget", true, 4}
)

var contents = []drawnKind{
	{"v1", "ConfigMap", false, 5}, {"v1", "Secret", false, 2}, {"v1", "Pod", false, 5}, {"v1", "PersistentVolumeClaim", false, 3},
	{"v1", "PersistentVolume", true, 2}, {"batch/v1", "Job", false, 1}, {"apps/v1", "ReplicaSet", false, 2}, {"v1", "ServiceAccount", false, 1},
	{"rbac.authorization.k8s.io/v1", "Role", false, 1}, {"rbac.authorization.k8s.io/v1", "ClusterRole", true, 2},
}

// drawContainers makes the story of a seed: a world in which namespaces, definitions
// or both of them are deleted, and then what holds them is taken off or they are
// deleted again.
func drawContainers(seed uint64) story {
	d := &drawer{Rand: rand.New(rand.NewPCG(seed, 36))}
	d.add("v1", "Node", "").Name = "node"
	for _, name := range []string{"n", "m", "k", "l"}[:1+d.IntN(4)] {
		d.namespace(name)
	}
	scopes := []drawnKind{namespacedInstance, clusterInstance}
	d.Shuffle(2, func(i, j int) { scopes[i], scopes[j] = scopes[j], scopes[i] })
	for _, k := range scopes[:d.definitions(seed)] {
		d.definition(k)
	}
	size := 5 + d.IntN(20)
	if d.one(6) {
		size = 25 + d.IntN(35)
	}
	for len(d.objects) < size {
		d.content()
	}
	for i, o := range d.objects {
		d.owners(i, o)
	}
	return story{seed: seed, objects: d.objects, phases: d.phases(seed)}
}

// definitions is how many definitions a world has: one at least where they are what
// is deleted.
func (d *drawer) definitions(seed uint64) int {
	if seed%3 != 0 {
		return 1 + d.IntN(2)
	}
	return d.IntN(3)
}

// one is true once in n.
func (d *drawer) one(n int) bool { return d.IntN(n) == 0 }

func (d *drawer) add(apiVersion, kind, namespace string) *object.Object {
	n := len(d.objects)
	o := &object.Object{ResourceVersion: fmt.Sprint(n + 1)}
	o.APIVersion, o.Kind, o.Namespace = apiVersion, kind, namespace
	o.Name, o.UID = fmt.Sprintf("o%d", n), types.UID(fmt.Sprintf("u%d", n))
	d.objects = append(d.objects, o)
	return o
}

func (d *drawer) namespace(name string) {
	o := d.add("v1", "Namespace", "")
	o.Name = name
	d.namespaces = append(d.namespaces, name)
	life := o.Edit()
	facts := &object.NamespaceFacts{Phase: "Active", Finalizers: []string{namespaceToken}}
	if d.one(12) {
		facts.Finalizers = append(facts.Finalizers, scenario.Foreign)
	}
	life.Facts, life.Finalizers = facts, d.finalizers(7, 14)
	if d.one(14) {
		life.Finalizers = slices.DeleteFunc(life.Finalizers, ofCollector)
		life.DeletionTimestamp, facts.Phase = scenario.Start, "Terminating"
	}
}

func (d *drawer) definition(k drawnKind) {
	o := d.add("apiextensions.k8s.io/v1", "CustomResourceDefinition", "")
	plural := pluralOf(k.kind)
	o.Name = plural + "." + drawnGroup
	life := o.Edit()
	life.Facts = &object.CRDFacts{
		Group: drawnGroup, Kind: k.kind, Plural: plural, Namespaced: !k.clusterScoped, Established: true,
		Versions: []object.CRDVersion{{Name: "v1", Served: true, Storage: true}},
	}
	life.Finalizers = d.finalizers(9, 14)
	d.instances = append(d.instances, k)
}

// finalizers draws what holds an object: somebody once in foreign, the collector once
// in collector.
func (d *drawer) finalizers(foreign, collector int) []string {
	var list []string
	if d.one(foreign) {
		list = append(list, scenario.Foreign)
	}
	if d.one(collector) {
		list = append(list, []string{object.Orphan, object.Foreground}[d.IntN(2)])
	}
	return list
}

// content draws one object, or a few that belong together.
func (d *drawer) content() {
	kinds := append(slices.Clone(contents), d.instances...)
	n := 0
	for _, k := range kinds {
		n += k.weight
	}
	n = d.IntN(n)
	i := 0
	for ; n >= kinds[i].weight; i++ {
		n -= kinds[i].weight
	}
	k := kinds[i]
	namespace := ""
	if !k.clusterScoped {
		namespace = d.namespaces[d.IntN(len(d.namespaces))]
	}
	o := d.add(k.apiVersion, k.kind, namespace)
	// Instances are held less often: their definition keeps a worker of the API server
	// busy as long as they are.
	foreign := 8
	if k.apiVersion == namespacedInstance.apiVersion {
		foreign = 20
	}
	life := o.Edit()
	life.Finalizers = d.finalizers(foreign, 16)
	switch k.kind {
	case "Pod":
		d.pod(o)
	case "PersistentVolumeClaim":
		life.Finalizers = append([]string{claimProtection}, life.Finalizers...)
		d.unbound = append(d.unbound, o)
	case "PersistentVolume":
		life.Finalizers = append([]string{volumeProtection}, life.Finalizers...)
		life.Facts = d.volume()
	case "Job":
		life.Facts = &object.JobFacts{}
		d.podOf(o)
	}
	often := 18
	if strings.HasPrefix(k.kind, "PersistentVolume") { // which wait for each other and for pods
		often = 6
	}
	if d.one(often) {
		d.terminate(o)
	}
}

// terminate has an object be deleted already, held by something. A collector that
// starts in the midst of its own deletions is the business of the other cells.
func (d *drawer) terminate(o *object.Object) {
	life := o.Edit()
	life.Finalizers = slices.DeleteFunc(slices.Clone(life.Finalizers), ofCollector)
	if len(life.Finalizers) == 0 {
		life.Finalizers = []string{scenario.Foreign}
	}
	life.DeletionTimestamp, life.GracePeriod = scenario.Start, new(int64(0))
}

func ofCollector(finalizer string) bool {
	return finalizer == object.Foreground || finalizer == object.Orphan
}

// pod draws where a pod stands and what it uses.
func (d *drawer) pod(o *object.Object) {
	p := &object.PodFacts{Phase: "Pending", TerminationGracePeriod: new(int64(d.IntN(4) * 2)), VolumesKnown: true}
	if !d.one(3) {
		p.NodeName, p.Phase = "node", []string{"Running", "Running", "Succeeded"}[d.IntN(3)]
	}
	for _, claim := range d.objects {
		if claim.Kind == "PersistentVolumeClaim" && claim.Namespace == o.Namespace && d.one(2) {
			p.Claims = append(p.Claims, object.Claim{Name: claim.Name})
		}
	}
	if d.one(6) {
		claim := d.add("v1", "PersistentVolumeClaim", o.Namespace)
		claim.Name = o.Name + "-v"
		claim.Edit().Finalizers = []string{claimProtection}
		claim.Owners = []object.OwnerReference{{
			APIVersion: "v1", Kind: "Pod", Name: o.Name, UID: o.UID, Controller: object.True, BlockOwnerDeletion: object.True,
		}}
		p.Claims = append(p.Claims, object.Claim{Name: claim.Name, Ephemeral: true})
	}
	o.Edit().Facts = p
}

// podOf draws a pod that a Job has to count.
func (d *drawer) podOf(job *object.Object) {
	o := d.add("v1", "Pod", job.Namespace)
	o.Labels = object.LabelsOf(map[string]string{"job": job.Name})
	o.Owners = []object.OwnerReference{{
		APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: object.True, BlockOwnerDeletion: object.True,
	}}
	life := o.Edit()
	life.Finalizers = []string{jobTracking}
	life.Facts = &object.PodFacts{NodeName: "node", Phase: []string{"Running", "Succeeded"}[d.IntN(2)], TerminationGracePeriod: new(int64(2)), VolumesKnown: true}
}

// volume draws a volume, mostly that of a claim.
func (d *drawer) volume() *object.PVFacts {
	if len(d.unbound) == 0 || d.one(4) {
		return &object.PVFacts{Phase: "Available"}
	}
	claim := d.unbound[0]
	d.unbound = d.unbound[1:]
	return &object.PVFacts{Phase: "Bound", ClaimNamespace: claim.Namespace, ClaimName: claim.Name, ClaimUID: claim.UID}
}

// owners draws the owners of an object beside those that it has.
func (d *drawer) owners(i int, o *object.Object) {
	if o.Kind == "Node" {
		return
	}
	number := []int{0, 0, 1, 1, 1, 2, 2, 3}[d.IntN(8)]
	if o.Kind == "Namespace" || o.Kind == "CustomResourceDefinition" {
		number = max(0, number-1)
	}
	for range number {
		if ref, ok := d.owner(i, o); ok && !o.RefersTo(ref.UID) {
			ref.BlockOwnerDeletion = object.Flag(d.IntN(3))
			o.Owners = append(slices.Clone(o.Owners), ref)
		}
	}
}

// owner draws an older object that may own this one; rarely any object, or one that
// does not exist.
func (d *drawer) owner(i int, o *object.Object) (object.OwnerReference, bool) {
	if d.one(30) {
		return object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "ghost", UID: "ghost"}, true
	}
	wrong, younger := d.one(12), d.one(20) || o.NamespaceFacts() != nil || o.Definition() != nil
	var fitting []*object.Object
	for j, owner := range d.objects {
		if (j < i || younger) && owner.Kind != "Node" && (wrong || owner.Namespace == "" || owner.Namespace == o.Namespace) {
			fitting = append(fitting, owner)
		}
	}
	if len(fitting) == 0 {
		return object.OwnerReference{}, false
	}
	owner := fitting[d.IntN(len(fitting))]
	return object.OwnerReference{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID}, true
}

// phases draws what users do: a deletion, then perhaps a second look at it, and then
// perhaps the end of everything that holds something.
func (d *drawer) phases(seed uint64) [][]scenario.Act {
	first := d.deletes(seed)
	phases := [][]scenario.Act{first}
	switch d.IntN(5) {
	case 0, 1, 2:
		phases = append(phases, d.releases(1+d.IntN(3)))
	case 3:
		policy := d.policy()
		var again []scenario.Act
		for _, a := range first {
			again = append(again, scenario.Act{Ref: a.Ref, Policy: policy})
		}
		phases = append(phases, append(again, scenario.Act{Ref: d.any().Ref, Policy: policy}))
	}
	if d.one(3) {
		phases = append(phases, d.releases(len(d.objects)))
	}
	return phases
}

func (d *drawer) policy() metav1.DeletionPropagation {
	return []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationBackground, metav1.DeletePropagationBackground,
		metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	}[d.IntN(5)]
}

// deletes draws which containers are deleted: by seed namespaces, definitions, or
// something together with a namespace.
func (d *drawer) deletes(seed uint64) []scenario.Act {
	policy := d.policy()
	namespaces, definitions := d.of("Namespace"), d.of("CustomResourceDefinition")
	var targets []*object.Object
	switch seed % 3 {
	case 0:
		targets = namespaces[:1+d.IntN(min(2, len(namespaces)))]
	case 1:
		targets = definitions[:1+d.IntN(len(definitions))]
	default:
		targets = namespaces[:1]
		switch d.IntN(4) {
		case 0:
			targets = append(targets, definitions[0])
		case 1:
			targets = append(targets, d.in(namespaces[0].Name))
		case 2:
			targets = d.ownersOf(append(namespaces, definitions...))
		default:
			targets = append(targets, definitions[0], d.any())
		}
		d.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	}
	var acts []scenario.Act
	for _, o := range targets {
		if !slices.ContainsFunc(acts, func(a scenario.Act) bool { return a.Ref == o.Ref }) {
			acts = append(acts, scenario.Act{Ref: o.Ref, Policy: policy})
		}
	}
	return acts
}

// of are the objects of a kind, shuffled.
func (d *drawer) of(kind string) []*object.Object {
	var list []*object.Object
	for _, o := range d.objects {
		if o.Kind == kind {
			list = append(list, o)
		}
	}
	d.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return slices.Clip(list)
}

// ownersOf are the objects that own others, or else one of these.
func (d *drawer) ownersOf(owned []*object.Object) []*object.Object {
	var list []*object.Object
	for _, o := range d.objects {
		if slices.ContainsFunc(owned, func(c *object.Object) bool { return c.RefersTo(o.UID) }) {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return owned[:1]
	}
	return list
}

// any is any object but the node.
func (d *drawer) any() *object.Object { return d.objects[1+d.IntN(len(d.objects)-1)] }

// in is an object in a namespace, or any one where it is empty.
func (d *drawer) in(namespace string) *object.Object {
	var list []*object.Object
	for _, o := range d.objects {
		if o.Namespace == namespace {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return d.any()
	}
	return list[d.IntN(len(list))]
}

// releases takes the foreign finalizer off some objects that have it.
func (d *drawer) releases(most int) []scenario.Act {
	var acts []scenario.Act
	for _, i := range d.Perm(len(d.objects)) {
		o := d.objects[i]
		facts := o.NamespaceFacts()
		held := o.HasFinalizer(scenario.Foreign) || facts != nil && slices.Contains(facts.Finalizers, scenario.Foreign)
		if held && len(acts) < most {
			acts = append(acts, scenario.Act{Ref: o.Ref, Drop: scenario.Foreign})
		}
	}
	return acts
}
