package apply

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// protectedError reports that an object is protected and was left alone.
type protectedError struct {
	Object object.Ref
	Why    reason.Code
}

// Error names the reason.
func (e *protectedError) Error() string { return "it is protected now: " + string(e.Why) }

// protected returns a *protectedError if an object must be left alone. The plan was checked against
// the same policy, but the object may have been protected since. Finalizers are removed only from
// objects that are being deleted already, so a protected kind does not count there; annotations
// do.
func (r *run) protected(o *object.Object) error {
	why, yes := r.o.Policy.Check(o)
	if !yes || why == reason.ProtectedKind && r.result.Plan.Seed.Verb == string(plan.RemoveFinalizer) {
		return nil
	}
	return &protectedError{o.Ref, why}
}

// takes reports whether a request can delete its object. Removing references only changes it.
func takes(q engine.Request) bool {
	return q.Verb == engine.DeleteObject || q.Verb == engine.RemoveFinalizer
}
