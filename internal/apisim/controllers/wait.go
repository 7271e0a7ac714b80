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
	// ContentRemains: deleted objects in a namespace still exist. They have finalizers or a grace
	// period, or could not be deleted.
	ContentRemains Reason = "ContentRemains"
	// PodsRemain: the same for pods, which are deleted first. Until they are gone, no other content
	// is deleted. (spec §5.3, S210)
	PodsRemain Reason = "PodsRemain"
	// InstancesRemain: the same for the instances of a definition. (§6.2, S193)
	InstancesRemain Reason = "InstancesRemain"
	// TokensRemain: the content of a namespace is gone, but spec.finalizers has entries of other
	// controllers. (§5.2, S207)
	TokensRemain Reason = "TokensRemain"
	// DiscoveryFails: the content of a namespace is gone as far as the server can name its
	// resources, but it cannot name those of some API versions. (§5.3, S212)
	DiscoveryFails Reason = "DiscoveryFails"
	// Refused: the server refused a request.
	Refused Reason = "Refused"
	// NotCovered: the snapshot doesn't show whether objects exist.
	NotCovered Reason = "NotCovered"
	// NotServed: objects exist of a kind that no resource serves. No request reaches them.
	NotServed Reason = "NotServed"
	// ClaimInUse: scheduled pods use the claim. (spec §7.1, S230)
	ClaimInUse Reason = "ClaimInUse"
	// VolumeBound: the claim of the volume exists. (§7.1, S233)
	VolumeBound Reason = "VolumeBound"
	// ManagedElsewhere: the object has the finalizer, but this controller will not remove it.
	ManagedElsewhere Reason = "ManagedElsewhere"
	// NodeNotReady: the kubelet of the pod's node is known not to work.
	NodeNotReady Reason = "NodeNotReady"
	// NodeGone: the pod's node doesn't exist, and pod GC is known not to have removed the pod.
	NodeGone Reason = "NodeGone"
	// NotShown: an object is in the snapshot without the fields that decide.
	NotShown Reason = "NotShown"
)

// Wait is one obstacle to the deletion of an object, or to a deletion that would follow.
type Wait struct {
	// Controller is the name of the controller that waits.
	Controller string
	// Object is the obstructed object: the namespace, the definition, the pod, the claim, the
	// volume.
	Object object.Ref
	Reason Reason
	// Holds is the finalizer that stays on the object, "" if the wait is about something else.
	Holds string
	// Resource is the resource of the objects in the way. Its name is empty if there is no single
	// one.
	Resource object.Resource
	// Remaining are the objects in the way, sorted by object.Compare.
	Remaining []object.Ref
	// Finalizers are those of the remaining objects, or the remaining spec.finalizers, by name.
	Finalizers []FinalizerCount
	// Why is the server's error or the reason of the gap, for people.
	Why string
}

// FinalizerCount is a finalizer and the number of objects that have it.
type FinalizerCount struct {
	Name    string
	Objects int
}

// Unknown reports whether the outcome is unknown rather than blocked: the obstacle may not exist.
func (w Wait) Unknown() bool {
	return w.Reason == NotCovered || w.Reason == NotServed || w.Reason == NotShown
}

// String returns the wait on one line, for traces. It doesn't escape.
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

// path returns a reference without its kind.
func path(r object.Ref) string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Waiting returns the waits of a list of controllers, sorted.
func Waiting(list []Controller) []Wait {
	var waits []Wait
	for _, c := range list {
		waits = append(waits, c.Waiting()...)
	}
	sortWaits(waits)
	return waits
}

// WaitsOf returns the waits of a list of controllers by object, each list in the order of Waiting.
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

// remaining returns a wait for the objects in the way.
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

// The conditions in which a terminating namespace reports its obstacles.
//
// Upstream: api/core/v1/types.go NamespaceDeletionDiscoveryFailure,
// NamespaceDeletionContentFailure, NamespaceContentRemaining, NamespaceFinalizersRemaining.
const (
	discoveryFailure    = "NamespaceDeletionDiscoveryFailure"
	contentFailure      = "NamespaceDeletionContentFailure"
	contentRemaining    = "NamespaceContentRemaining"
	finalizersRemaining = "NamespaceFinalizersRemaining"
)

// Conditions returns the conditions that are true of a namespace during the wait, sorted by name.
// None is true of PodsRemain: until the pods are gone, all content is reported as removed.
//
// Upstream: pkg/controller/namespace/deletion/status_condition_utils.go ProcessContentTotals,
// makeDeleteContentCondition.
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent.
// Rule: spec §5.4, S210–S212.
func (w Wait) Conditions() []string {
	if w.Controller != NamespaceName {
		return nil
	}
	switch w.Reason {
	case DiscoveryFails:
		return []string{discoveryFailure}
	case Refused:
		if w.Resource.Name != "" {
			return []string{contentFailure}
		}
	case ContentRemains:
		// Content without a finalizer that still exists is an error.
		if len(w.Finalizers) == 0 {
			return []string{contentRemaining, contentFailure}
		}
		return []string{contentRemaining, finalizersRemaining}
	default:
	}
	return nil
}

// ConditionsOf returns the conditions that are true during all these waits, sorted by name.
func ConditionsOf(waits []Wait) []string {
	var list []string
	for _, w := range waits {
		list = append(list, w.Conditions()...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
