package engine

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Disposition is what happens to an attempt after all of its requests succeeded.
type Disposition uint8

const (
	// Forget: done until an event queues the object again.
	Forget Disposition = iota
	// Defer: tried again when the driver wakes it.
	Defer
	// Vanish: the object is gone, even if no watch has said so.
	Vanish
	// Again: tried again at once, on a newer state of the object. Only an economical collector uses
	// it.
	Again
)

// Decision is the result of judging one attempt.
type Decision struct {
	Attempt Attempt
	Reason  reason.Code
	// Owners are the facts that the decision rests on; empty if the object's own state decided.
	Owners []OwnerFact
	// Err is why no decision was possible; nil for a decision.
	Err error
	// Requests are sent in order, until the first failure.
	Requests []Request
	// Blockers are the dependents that a foreground deletion waits for.
	Blockers    []graph.ID
	Disposition Disposition
}

// Verb is the effect of a request.
type Verb uint8

// The verbs of requests.
const (
	// DeleteObject deletes with a policy and preconditions.
	DeleteObject Verb = iota
	// RemoveOwners removes owner references by a patch.
	RemoveOwners
	// Unblock sets blockOwnerDeletion to false by a patch.
	Unblock
	// RemoveFinalizer reads the object and removes one finalizer by a patch.
	RemoveFinalizer
)

// Request is one intended change, with all that is needed to send it and to handle a conflict. Act
// may send several requests on the wire for it.
type Request struct {
	Verb Verb
	// Reason is that of the decision. Rules are those of the collector. Release is the release that
	// it simulates.
	Reason  reason.Code
	Rules   Rules
	Release release.Rules
	// Pin says which state of the object the request is valid for.
	Pin Pin
	Ref object.Ref
	// Live is the object that the decision rests on. The preconditions of a DELETE come from it.
	Live *object.Object
	// Cached is the object as last observed, nil if it never was. The merge form of a patch is
	// computed from it, as upstream does from its cache.
	Cached *object.Object
	// Policy of a DELETE: Background, Foreground or Orphan.
	Policy Policy
	// UIDs are the owners to which the references are removed.
	UIDs []types.UID
	// Finalizer is the one to remove.
	Finalizer string
	// TolerateAbsence is true if NotFound counts as success.
	TolerateAbsence bool
}

// Pin says which state of its object a request is valid for.
type Pin uint8

// The pins of requests. All but the first are used only with WithEconomy.
const (
	// Unpinned: as upstream, which adds the preconditions that it needs and reads again on a
	// conflict.
	Unpinned Pin = iota
	// PinVersion: for the version that the decision rests on. A conflict is judged again.
	PinVersion
	// PinUID: for the object in any version. It is for the end of orphaning: the reference to the
	// owner is removed by UID, whatever else has changed, and once all dependents are released, the
	// finalizer is removed.
	PinUID
)

// Policy is a propagation policy.
type Policy uint8

// The propagation policies.
const (
	Background Policy = iota
	ForegroundPolicy
	OrphanPolicy
)

// String returns the policy as written in DeleteOptions.
func (p Policy) String() string {
	return string(propagation[p])
}
