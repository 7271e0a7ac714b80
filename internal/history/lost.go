package history

import (
	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Policy is how a delete was asked for, as the finalizers tell that it has set.
type Policy uint8

// The policies that can be told.
const (
	// Background leaves no trace: the object goes at once, or when its finalizers are off.
	Background Policy = iota
	// Foreground has set the finalizer of the garbage collector for dependents that go first.
	Foreground
	// Orphan has set the one for dependents that stay.
	Orphan
)

// Account is who took what is gone.
type Account struct {
	Past *Past
	// Losses are the objects that went or were asked to go, and those that lost an owner, in the
	// order in which that began.
	Losses []Loss
	// Requests are the deletes that explain the losses, as few as can be, in their order.
	Requests []Request
}

// Loss is one object that is gone, that is being deleted, or that lost an owner.
type Loss struct {
	// Object is the object as it was before the loss.
	Object *object.Object
	// Asked is the revision at which its deletion began, Gone the one at which it went: the same
	// where nothing held it. Where they are not known exactly it is the earliest and the latest possible. Gone is 0 for an object that is still being deleted, and for one that
	// lost an owner.
	Asked, Gone uint64
	Policy      Policy
	// Orphaned says that the object is there and lost references, to the owners in Owners.
	Orphaned bool
	Owners   []object.Ref
	// Cause is who took it.
	Cause Cause
	// Or are the other explanations that what is known does not exclude.
	Or []Cause
	// Sent is the request in the audit log that began the deletion, and Match by what it was
	// found; nil where the log has none.
	Sent  *audit.Request
	Match Match
	// Contradicts is the only cause that history without the log leaves, where the log says
	// otherwise.
	Contradicts *Cause
}

// Cause is who took an object.
type Cause struct {
	Code Code
	// By is what it went with: the owner, the namespace, the definition.
	By object.Ref
	// Request is the index of the request that began it; -1 where none of the requests did.
	Request int
}

// Code is a kind of cause.
type Code string

// Request is a delete that somebody asked for.
type Request struct {
	// Losses are the indexes of what was asked for: one object, or several of one kind that were
	// asked for in one go.
	Losses []int
	Policy Policy
	// At is when the first of them was asked for.
	At Moment
	// Took counts the losses that it explains, its own included.
	Took int
	// Certain says that nothing else explains it. Otherwise a controller may have done it.
	Certain bool
	// Sent are the requests in the audit log, all of one client and with the same options; nil
	// where the log has none.
	Sent []*audit.Request
}
