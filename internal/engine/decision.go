package engine

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Disposition is what becomes of an attempt when all of its requests succeed.
type Disposition uint8

const (
	// Forget: done until an event queues the object again.
	Forget Disposition = iota
	// Defer: to be tried again when the driver wakes it.
	Defer
	// Vanish: the object is gone, whether a watch says so or not.
	Vanish
	// Again: to be tried again at once, on a newer state of the object. Only an
	// economical collector does that.
	Again
)

// Decision is the judgement of one attempt.
type Decision struct {
	Attempt Attempt
	Reason  reason.Code
	// Owners are the facts that it rests on; empty when the object's own state
	// decided.
	Owners []OwnerFact
	// Err is why nothing could be decided; nil for a decision.
	Err error
	// Requests are sent in order; the first failure ends them.
	Requests []Request
	// Blockers are the dependents that a foreground deletion waits for.
	Blockers    []graph.ID
	Disposition Disposition
}

// Verb is what a request does.
type Verb uint8

// The verbs of requests.
const (
	// DeleteObject deletes with a policy and preconditions.
	DeleteObject Verb = iota
	// RemoveOwners patches owner references away.
	RemoveOwners
	// Unblock patches blockOwnerDeletion to false.
	Unblock
	// RemoveFinalizer reads the object and patches one finalizer away.
	RemoveFinalizer
)

// Request is one intent, with all that is needed to send it and to judge a
// conflict. Act turns it into one or several requests on the wire.
type Request struct {
	Verb Verb
	// Reason is that of the decision, Rules are those it was judged by, and Release those of
	// the release whose collector this is.
	Reason  reason.Code
	Rules   Rules
	Release release.Rules
	// Pin says for which state of the object the request holds.
	Pin Pin
	Ref object.Ref
	// Live is the object on which the decision rests: preconditions of a DELETE
	// come from it.
	Live *object.Object
	// Cached is the object as last observed; nil when it never was. The merge
	// form of a patch is computed from it, as upstream does from its cache.
	Cached *object.Object
	// Policy of a DELETE: Background, Foreground or Orphan.
	Policy Policy
	// UIDs are the owners whose references go.
	UIDs []types.UID
	// Finalizer is the one to remove.
	Finalizer string
	// TolerateAbsence: NotFound is a success.
	TolerateAbsence bool
}

// Pin says for which state of its object a request holds.
type Pin uint8

// The pins of requests. All but the first are those of WithEconomy.
const (
	// Unpinned: as upstream's, which says what it has to and asks again on a conflict.
	Unpinned Pin = iota
	// PinVersion: for the version on which the decision rests. A conflict is to be
	// judged again.
	PinVersion
	// PinUID: for the object, in whatever version. That is the end of orphaning: the
	// reference to the owner goes whatever else has changed, and the UIDs say which; and
	// when all dependents are released, the finalizer goes.
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

// String is the policy as it stands in DeleteOptions.
func (p Policy) String() string {
	return string(propagation[p])
}
