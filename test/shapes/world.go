package shapes

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// When the snapshots were taken, and a month before, when their objects begin to be made.
const (
	taken = "2026-06-01T00:00:00Z"
	now   = 1_780_272_000
	month = 30 * 24 * 3600
)

// event is the kind of which real clusters have most.
var event = object.Kind{GroupKind: schema.GroupKind{Kind: "Event"}, Version: "v1", Plural: "events", Namespaced: true}

// world is a cluster that is being drawn.
type world struct {
	// n is how many objects it shall have.
	n         int
	objects   []*object.Object
	resources *object.Resources
	coverage  *snapshot.Coverage
	chance    *rand.Rand
	uid       func(object.Ref) types.UID
	// texts are shared, as a reader shares them.
	texts map[string]string
	nodes int

	root, middle *object.Object
	asked        []object.Ref
	namespace    string
	extra        [][]string
}

// begin has what every cluster has: nodes, each with its lease, and two namespaces.
func (w *world) begin() {
	w.space("kube-system")
	w.space("kube-node-lease")
	for w.nodes = range max(3, w.n/500) {
		node := w.add(object.Node, "", fmt.Sprintf("node-%04d", w.nodes))
		w.add(object.Lease, "kube-node-lease", node.Name, node)
	}
	w.nodes++
}

// full reports whether there are as many objects as there shall be.
func (w *world) full() bool { return len(w.objects) >= w.n }

// add makes an object of the first owner's, who controls it, and of the others.
// All of them wait for it in the foreground.
func (w *world) add(k object.Kind, namespace, name string, owners ...*object.Object) *object.Object {
	o := &object.Object{
		Ref:             object.Ref{APIVersion: w.text(k.APIVersion()), Kind: k.Kind, Namespace: w.text(namespace), Name: name},
		ResourceVersion: fmt.Sprint(1_000_000 + len(w.objects)),
		Created:         now - month + int64(w.chance.IntN(month)),
	}
	o.UID = w.uid(o.Ref)
	for i, owner := range owners {
		controls := object.True
		if i > 0 {
			controls = object.Unset
		}
		o.Owners = append(o.Owners, object.OwnerReference{
			APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID,
			Controller: controls, BlockOwnerDeletion: object.True,
		})
	}
	w.objects = append(w.objects, o)
	return o
}

// define adds a CRD and the kind that it serves.
func (w *world) define(group, kind, plural string, namespaced bool) object.Kind {
	definition := w.add(object.CRD, "", plural+"."+group)
	definition.Edit().Facts = &object.CRDFacts{
		Group: group, Kind: kind, Plural: plural, Namespaced: namespaced, Established: true,
		Versions: []object.CRDVersion{{Name: "v1", Served: true, Storage: true}}, Stored: []string{"v1"},
	}
	definition.Lifecycle.Finalizers = []string{"customresourcecleanup.apiextensions.k8s.io"}
	w.resources.Add(object.Resource{Group: group, Version: "v1", Name: plural, Kind: kind, Namespaced: namespaced, Verbs: object.AllVerbs, Custom: true})
	return object.Kind{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Version: "v1", Plural: plural, Namespaced: namespaced}
}

// space adds a namespace with what Kubernetes puts into each.
func (w *world) space(name string) *object.Object {
	o := w.add(object.Namespace, "", name)
	o.Edit().Facts = &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}
	w.add(object.ServiceAccount, name, "default")
	w.add(object.ConfigMap, name, "kube-root-ca.crt")
	return o
}

// token adds a ServiceAccount and its token.
func (w *world) token(namespace, name string) {
	account := w.add(object.ServiceAccount, namespace, name)
	w.add(object.Secret, namespace, name+"-token").Edit().Facts = &object.Token{Account: name, AccountUID: account.UID, Sure: true}
}

// pod adds a pod that runs on a node by chance and mounts the claims.
func (w *world) pod(namespace, name string, owner *object.Object, claims ...object.Claim) *object.Object {
	o := w.add(object.Pod, namespace, name, owner)
	o.Labels = w.labels(owner.Name)
	grace := int64(30)
	o.Edit().Facts = &object.PodFacts{
		NodeName: w.text(fmt.Sprintf("node-%04d", w.chance.IntN(w.nodes))), Phase: "Running",
		TerminationGracePeriod: &grace, VolumesKnown: true, Claims: claims,
	}
	return o
}

// claim adds a claim with the volume that it is bound to.
func (w *world) claim(namespace, name string, owners ...*object.Object) (claim, volume *object.Object) {
	claim = w.add(object.PVC, namespace, name, owners...)
	claim.Edit().Finalizers = []string{"kubernetes.io/pvc-protection"}
	volume = w.add(object.PV, "", "pvc-"+string(claim.UID))
	volume.Edit().Finalizers = []string{"kubernetes.io/pv-protection"}
	volume.Lifecycle.Facts = &object.PVFacts{
		Phase: "Bound", ClaimNamespace: claim.Namespace, ClaimName: name, ClaimUID: claim.UID,
		ReclaimPolicy: "Delete", Provisioner: "csi.example.com", CSI: true,
	}
	return claim, volume
}

// end marks an object as being deleted, for an hour to a day.
func (w *world) end(o *object.Object) {
	life := o.Edit()
	life.DeletionTimestamp = now - 3600 - int64(w.chance.IntN(23*3600))
	life.GracePeriod = new(int64)
}

// leave marks a namespace as being deleted, with something that holds it up.
func (w *world) leave(space *object.Object) {
	w.end(space)
	space.NamespaceFacts().Phase = "Terminating"
	held := w.add(object.ConfigMap, space.Name, "held")
	held.Edit().Finalizers = []string{"example.com/hold"}
	w.end(held)
}

func (w *world) labels(app string) object.Labels {
	return object.Labels(w.text(string(object.LabelsOf(map[string]string{"app": app, "pod-template-hash": "5d47c484f4"}))))
}

func (w *world) text(s string) string {
	if have, ok := w.texts[s]; ok {
		return have
	}
	w.texts[s] = s
	return s
}

// uuid is a uid as an API server makes them.
func (w *world) uuid(object.Ref) types.UID {
	high, low := w.chance.Uint64(), w.chance.Uint64()
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", high>>32, high>>16&0xffff, high&0xfff, low>>48&0x3fff|0x8000, low&0xffff_ffff_ffff))
}

// words is a uid as other servers of the API make them: some text, of any length.
func (w *world) words(r object.Ref) types.UID {
	return types.UID(fmt.Sprintf("%s:%s/%s@%d", r.Kind, r.Namespace, r.Name, w.chance.IntN(1_000_000)))
}

// suffix is the i-th of 14 million endings of names: five letters as Kubernetes takes them.
func suffix(i int) string {
	const letters, endings = "bcdfghjklmnpqrstvwxz2456789", 27 * 27 * 27 * 27 * 27
	text := make([]byte, 5)
	for x, at := (i+1)*7_919_111%endings, 4; at >= 0; x, at = x/27, at-1 {
		text[at] = letters[x%27]
	}
	return string(text)
}

func strangeUIDs(w *world) {
	w.uid = w.words
	oneNamespace(w)
}

// metadata is what a list of metadata shows: which claims a pod uses, and on which node it
// runs, is not known.
func metadata(w *world) {
	oneNamespace(w)
	for _, o := range w.objects {
		if o.Is(object.Pod) {
			o.Lifecycle = nil
		}
	}
}

// listed is what `kubectl get deployments,replicasets,pods` shows of a namespace.
func listed(w *world) {
	w.n = w.n * 11 / 10 // an eleventh are claims, volumes and nodes
	oneNamespace(w)
	w.coverage = &snapshot.Coverage{}
	kinds := []object.Kind{object.Deployment, object.ReplicaSet, object.Pod}
	for _, k := range kinds {
		w.coverage.Add(k.GroupResource(), w.namespace)
	}
	w.objects = slices.DeleteFunc(w.objects, func(o *object.Object) bool {
		return o.Namespace != w.namespace || !slices.ContainsFunc(kinds, o.Is)
	})
}
