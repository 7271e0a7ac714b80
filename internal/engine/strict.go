package engine

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// The differences between Strict and Upstream rules. Each one keeps an object that upstream would
// delete, or a reference that it would remove, because upstream's proof of absence is known to
// fail:
//
//  1. A 404 from a path that is not served, such as that of kind PodList or that of a
//     name with a slash, is not absence (classify; spec §3.18 H2, Q7, Q31).
//  2. Absence is not remembered: every owner is read again (observe.go remember, noteOwners;
//     §3.18 H1, Q14).
//  3. A UID that is observed under other coordinates than those of the reference is alive. If
//     nothing is found at the latter, the reference has a wrong namespace, kind or name, and its
//     owner is not absent (classify; §3.6, W3–W6).
//  4. An owner that a watch shows is not absent, whatever a GET says. The answer may be from
//     before the owner was restored with its UID, because answers are shared for a moment. Or the
//     watch is late and will queue the object again when it shows the deletion of the owner
//     (§3.18 H1, L23).
//  5. A DELETE refused because the object changed is never repeated without its
//     resourceVersion (Act; §3.12.1, Q13).
//  6. An owner that a watch reported deleted, and that a GET finds, is linked to its dependent
//     again (Settle; L23, L27).
//  7. A cluster-scoped object that was never observed has no namespace, whatever refers to it:
//     its namespaced owner cannot be resolved, and is not looked up in the dependent's namespace
//     (lookup; Q5).
//  8. A waiting owner that may exist after its wait keeps the dependents that don't block it: it
//     may exist again before a DELETE of one of them arrives. The blocking ones are deleted,
//     because the owner waits for that (classify, knownToWait; Q24).
//  9. An object that loses some of its owner references is judged again if no watch shows the
//     owner of a remaining one: while another owner existed, the absence of this one was not
//     checked (update).
//
// Objects that strict rules keep have the reason AbsenceNotProven; in case 7
// OwnerRefInvalidNamespace.

// noteObserved records whether the UID of the i-th reference belongs to an observed object, and
// whether that object has the coordinates of the reference.
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

// outlivesWaiting reports whether a waiting owner may exist after its wait while the reference
// still names it: another finalizer holds it, its grace period, or the content of a namespace. None
// of these can be added later: a server refuses new finalizers of an object that is being deleted,
// and its grace period only gets shorter.
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
