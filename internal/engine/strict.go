package engine

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// The differences between Strict and Upstream rules. Each one keeps an object
// that upstream would delete, or a reference that it would remove, because its
// proof of absence is known to fail:
//
//  1. A 404 from a path that is not served, such as that of kind PodList or that of a
//     name with a slash, is not absence (classify; spec §3.18 H2, Q7, Q31).
//  2. Absence is not remembered: every owner is asked for again (observe.go
//     remember, noteOwners; §3.18 H1, Q14).
//  3. A UID that is observed under other coordinates than the reference names is
//     alive: where these find nothing, a wrong namespace, kind or name is an error of
//     the reference, not the absence of its owner (classify; §3.6, W3–W6).
//  4. An owner that a watch shows is not absent, whatever a GET says: the answer
//     may be from before the owner came back with its UID, for answers are shared
//     for a moment; or the watch is late, and will queue the object again when it
//     shows that the owner is gone (§3.18 H1, L23).
//  5. A DELETE refused because the object changed is never repeated without its
//     resourceVersion (Act; §3.12.1, Q13).
//  6. An owner that a watch has said to be gone and that a GET finds is joined to its
//     dependent again (Settle; L23, L27).
//  7. A cluster-scoped object that was never observed has no namespace, whoever refers
//     to it: a namespaced owner of it cannot be resolved, and is not sought where its
//     dependent is (lookup; Q5).
//  8. An owner that waits for its dependents, and is not gone when it no longer does, keeps
//     the dependents that do not block it: it may exist again before a DELETE of one of
//     them arrives. Those that block it go, for it waits until they are gone (classify,
//     knownToWait; Q24).
//  9. An object that loses some of its owner references is judged again if no watch shows
//     the owner of one that is left: as long as another owner existed, nothing was
//     deferred until this one is proven absent (update).
//
// What strict rules keep carries the reason AbsenceNotProven, that of the last one
// OwnerRefInvalidNamespace.

// noteObserved notes whether the UID of the i-th reference belongs to an observed
// object, and whether that is one that the reference names.
func (c *Collector) noteObserved(a *Attempt, i int, ref object.OwnerReference) {
	owner, ok := c.graph.Find(ref.UID)
	switch {
	case !ok || c.graph.Virtual(owner):
	case named(ref, a.Ref.Namespace, c.graph.Identity(owner)):
		a.observed.Add(i)
	default:
		a.elsewhere.Add(i)
	}
}

// outlivesWaiting reports whether an owner that waits may stop waiting while the reference
// still names it, and exist then: another finalizer holds it, its grace period, or the
// content of a namespace. None of these comes later: a server refuses new finalizers of
// an object that is being deleted, and its grace period only gets shorter.
func outlivesWaiting(owner *object.Object, ref *object.OwnerReference) bool {
	other := func(finalizer string) bool { return finalizer != object.Foreground }
	grace := owner.GracePeriod()
	return !ref.Blocks() && (slices.ContainsFunc(owner.Finalizers(), other) ||
		grace != nil && *grace > 0 || owner.Group() == object.Namespace.Group && owner.Kind == object.Namespace.Kind)
}

// named reports whether a reference of an object in a namespace names this owner.
func named(ref object.OwnerReference, namespace string, owner object.Ref) bool {
	return ref.Names(owner) && (owner.Namespace == "" || owner.Namespace == namespace)
}
