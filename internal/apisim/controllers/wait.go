package controllers

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Reason is why a controller waits.
type Reason string

// The reasons to wait.
const (
	// ContentRemains: objects in a namespace have been deleted and are still
	// there. They have finalizers or a grace period, or nobody could delete them.
	ContentRemains Reason = "ContentRemains"
	// PodsRemain: the same of pods, which go first. Nothing else in the namespace
	// is touched until they have gone. (spec §5.3, S210)
	PodsRemain Reason = "PodsRemain"
	// InstancesRemain: the same of the instances of a definition. (§6.2, S193)
	InstancesRemain Reason = "InstancesRemain"
	// TokensRemain: the content of a namespace has gone, but spec.finalizers
	// holds what others have to remove. (§5.2, S207)
	TokensRemain Reason = "TokensRemain"
	// DiscoveryFails: the content of a namespace has gone as far as the server can name
	// it, and there are API versions of which it cannot. (§5.3, S212)
	DiscoveryFails Reason = "DiscoveryFails"
	// Refused: the server refused a request.
	Refused Reason = "Refused"
	// NotCovered: the snapshot does not show whether anything is there.
	NotCovered Reason = "NotCovered"
	// NotServed: objects are there of a kind that no resource serves, so that no
	// request reaches them.
	NotServed Reason = "NotServed"
	// ClaimInUse: pods on nodes use the claim. (spec §7.1, S230)
	ClaimInUse Reason = "ClaimInUse"
	// VolumeBound: the claim of the volume is there. (§7.1, S233)
	VolumeBound Reason = "VolumeBound"
	// ManagedElsewhere: the finalizer is there, and it is not for the controller
	// to remove it.
	ManagedElsewhere Reason = "ManagedElsewhere"
	// NodeNotReady: the kubelet of the pod's node is known not to work.
	NodeNotReady Reason = "NodeNotReady"
	// NodeGone: the pod's node is not there, and pod GC is known not to have removed
	// the pod.
	NodeGone Reason = "NodeGone"
	// NotShown: an object is in the snapshot without the fields that decide.
	NotShown Reason = "NotShown"
)

// Wait is one thing that keeps an object which is being deleted, or would be.
type Wait struct {
	// Controller is the name of the controller that waits.
	Controller string
	// Object is what cannot go: the namespace, the definition, the pod, the claim,
	// the volume.
	Object object.Ref
	Reason Reason
	// Holds is the finalizer that stays on the object; empty where the wait is for
	// something else.
	Holds string
	// Resource is what the wait is about; without a name where that is no single
	// resource.
	Resource object.Resource
	// Remaining are the objects in the way, in the order of object.Compare.
	Remaining []object.Ref
	// Finalizers are those of the remaining objects, or the rest of
	// spec.finalizers, by name.
	Finalizers []FinalizerCount
	// Why is the server's answer or the reason of the gap, for people.
	Why string
}

// FinalizerCount is a finalizer and the number of objects that have it.
type FinalizerCount struct {
	Name    string
	Objects int
}

// Unknown reports whether the end is open rather than blocked: what is waited for
// may not exist.
func (w Wait) Unknown() bool {
	return w.Reason == NotCovered || w.Reason == NotServed || w.Reason == NotShown
}

// String is the wait on one line, for traces. It does not escape.
func (w Wait) String() string {
	var b strings.Builder
	b.WriteString(w.Controller + ": " + w.Object.String() + " " + string(w.Reason))
	if w.Resource.Name != "" {
		b.WriteString(" " + w.Resource.GroupResource().String())
	}
	for _, ref := range w.Remaining {
		b.WriteString(" " + path(ref))
	}
	for i, f := range w.Finalizers {
		b.WriteString([]string{" fin=", ","}[min(i, 1)] + f.Name)
	}
	if w.Why != "" {
		b.WriteString(": " + w.Why)
	}
	return b.String()
}

// path is a reference without its kind.
func path(r object.Ref) string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Waiting lists what a list of controllers waits for.
func Waiting(list []Controller) []Wait {
	var waits []Wait
	for _, c := range list {
		waits = append(waits, c.Waiting()...)
	}
	sortWaits(waits)
	return waits
}

// WaitsOf lists what a list of controllers waits for with each object, in the order of
// Waiting.
func WaitsOf(list []Controller) map[object.Ref][]Wait {
	waits := Waiting(list)
	of := map[object.Ref][]Wait{}
	for from, to := 0, 1; from < len(waits); from, to = to, to+1 {
		for to < len(waits) && waits[to].Object == waits[from].Object {
			to++
		}
		of[waits[from].Object] = waits[from:to:to]
	}
	return of
}

func sortWaits(waits []Wait) {
	slices.SortStableFunc(waits, func(a, b Wait) int {
		return cmp.Or(
			object.Compare(a.Object, b.Object),
			strings.Compare(string(a.Reason), string(b.Reason)),
			strings.Compare(a.Resource.Group, b.Resource.Group),
			strings.Compare(a.Resource.Name, b.Resource.Name),
			strings.Compare(a.Controller, b.Controller),
		)
	})
}

// remaining makes a wait of the objects that are in the way.
func remaining(of object.Ref, why Reason, r object.Resource, objects []*object.Object) Wait {
	w := Wait{Object: of, Reason: why, Resource: r, Remaining: make([]object.Ref, 0, len(objects))}
	counts := map[string]int{}
	for _, o := range objects {
		w.Remaining = append(w.Remaining, o.Ref)
		for _, name := range o.Finalizers() {
			counts[name]++
		}
	}
	slices.SortFunc(w.Remaining, object.Compare)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		w.Finalizers = append(w.Finalizers, FinalizerCount{Name: name, Objects: counts[name]})
	}
	return w
}
