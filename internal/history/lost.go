package history

import (
	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Policy is the propagation policy of a delete, as far as its finalizers show it.
type Policy uint8

// The observable policies.
const (
	// Background sets no finalizer: the object is removed at once, or when its finalizers are
	// removed.
	Background Policy = iota
	// Foreground has set the finalizer foregroundDeletion: dependents are deleted first.
	Foreground
	// Orphan has set the finalizer orphan: dependents are kept.
	Orphan
)

// Account is the attribution of all losses in a past.
type Account struct {
	Past *Past
	// Losses are the objects that were deleted, are being deleted, or lost an owner, ordered by
	// the beginning of the loss.
	Losses []Loss
	// Requests are the deletes that explain the losses. They are as few as possible, in order.
	Requests []Request
}

// Loss is an object that was deleted, is being deleted, or lost an owner.
type Loss struct {
	// Object is the object as it was before the loss.
	Object *object.Object
	// Asked is the revision where its deletion began, Gone the one of its removal. They are
	// equal if nothing delayed it. If they are not known exactly, they are the earliest and the
	// latest possible. Gone is 0 for an object that is still being deleted, and for one that lost
	// an owner.
	Asked, Gone uint64
	Policy      Policy
	// Orphaned is true if the object still exists and lost its references to Owners.
	Orphaned bool
	Owners   []object.Ref
	// Cause is the most likely cause.
	Cause Cause
	// Or are the other possible causes.
	Or []Cause
	// Sent is the request in the audit log that began the deletion, and Match how it was matched.
	// It is nil if the log has none.
	Sent  *audit.Request
	Match Match
	// Contradicts is the only cause that the history without the log allows, if the log disagrees.
	Contradicts *Cause
}

// Cause is the cause of a loss.
type Cause struct {
	Code Code
	// By is the object that caused it: the owner, the namespace, the CRD.
	By object.Ref
	// Request is the index of the request that began it; -1 if none of the requests did.
	Request int
}

// Code is a kind of cause.
type Code string

// Request is a delete by a client.
type Request struct {
	// Losses are the indexes of the deleted objects: one object, or several of one kind that one
	// command deleted.
	Losses []int
	Policy Policy
	// At is the moment of the first delete.
	At Moment
	// Took counts the losses that it explains, including its own.
	Took int
	// Certain is true if no other cause is possible. Otherwise a controller may have done it.
	Certain bool
	// Sent are the requests in the audit log, all of one client and with the same options. It is
	// nil if the log has none.
	Sent []*audit.Request
}
