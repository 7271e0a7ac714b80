package apply

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// protectedError says that an object is protected, and was left alone.
type protectedError struct {
	Object object.Ref
	Why    reason.Code
}

// Error says why.
func (e *protectedError) Error() string { return "it is protected now: " + string(e.Why) }

// protected is a *ProtectedError when an object must be left alone. The plan was held
// against the same policy; since then somebody may have protected it. What a finalizer
// is taken off is being deleted already, so that its kind does not protect it: that was
// decided then. What its owner or Helm has written on it, does.
func (r *run) protected(o *object.Object) error {
	why, yes := r.o.Policy.Check(o)
	if !yes || why == reason.ProtectedKind && r.result.Plan.Seed.Verb == string(plan.RemoveFinalizer) {
		return nil
	}
	return &protectedError{o.Ref, why}
}

// takes reports whether a request gets rid of its object: references that go change it,
// and no more.
func takes(q engine.Request) bool {
	return q.Verb == engine.DeleteObject || q.Verb == engine.RemoveFinalizer
}
