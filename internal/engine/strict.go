package engine

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// The differences between Strict and Upstream rules. Each one keeps an object
// that upstream would delete, or a reference that it would remove, because its
// proof of absence is known to fail:
//
//  1. A 404 from a path that is not served, such as that of kind PodList, is not
//     absence (Lookup; semantics.md §3.18 H2, Q7).
//  2. Absence is not remembered: every owner is asked for again (observe.go
//     remember, noteOwners; §3.18 H1, Q14).
//  3. A UID that is observed under other coordinates than the reference names is
//     alive: a wrong namespace, kind or name is an error of the reference, not
//     the absence of its owner (observedElsewhere; §3.6, safety W3–W6).
//  4. A DELETE refused because the object changed is never repeated without its
//     resourceVersion (Act; §3.12.1, Q13).
//
// What strict rules keep carries the reason AbsenceNotProven.

// observedElsewhere tells whether the UID of a reference belongs to an observed
// object that the reference does not name.
func (c *Collector) observedElsewhere(ref object.OwnerReference, namespace string) bool {
	owner, ok := c.graph.Find(ref.UID)
	if !ok || c.graph.Virtual(owner) {
		return false
	}
	identity := c.graph.Identity(owner)
	return !ref.Names(identity) || identity.Namespace != "" && identity.Namespace != namespace
}
