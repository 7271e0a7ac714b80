package plan

import (
	"errors"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// errOverdue is the answer to a write that an overdue controller would have to make.
var errOverdue = errors.New("should have been changed or deleted minutes ago")

// checkOverdue refuses a write if the acting controller is overdue with it.
func (r *recorder) checkOverdue(ref object.Ref) error {
	if r.neighbours.Late == nil || r.actor == outcome.ActorCollector || !r.neighbours.Late.Stops(r.actor, r.deletionServedBy(ref)) {
		return nil
	}
	return errOverdue
}

// deletionServedBy returns the object that the current actor wants to remove when it writes to ref:
// the namespace or definition that contains ref, or ref itself.
func (r *recorder) deletionServedBy(ref object.Ref) object.Ref {
	switch {
	case r.actor == controllers.NamespaceName && ref.Namespace != "":
		return outcome.NamespaceRef(ref.Namespace)
	case r.actor == controllers.DefinitionName && ref.Kind != "CustomResourceDefinition":
		if res, err := r.server.Resource(ref.APIVersion, ref.Kind); err == nil {
			return r.snap.RefTo(object.CRD, "", res.GroupResource().String())
		}
	}
	return ref
}

// collectorOverdue reports whether the collector is overdue with a write: to an object that still
// has its finalizer, or to a dependent that it must delete or release first. It returns the reason.
func (r *recorder) collectorOverdue(ref object.Ref) (reason.Code, bool) {
	if r.neighbours.Late == nil || r.actor != outcome.ActorCollector {
		return "", false
	}
	if r.neighbours.Late.Stops(outcome.ActorCollector, ref) {
		st, _ := r.neighbours.Late.Of(ref)
		return outcome.LateReason(st.Reason), true
	}
	owner := r.neighbours.Late.Owner(r.server, ref)
	if owner == nil {
		return "", false
	}
	st, _ := r.neighbours.Late.Of(owner.Ref)
	return outcome.LateReason(st.Reason), true
}

// Late returns the reason why the deletion of an object is overdue. It returns false if no
// controller is overdue.
func (r *Result) Late(ref object.Ref) (reason.Code, bool) {
	l := r.run.neighbours.Late
	if r.run.futures.recovered { // no controller is overdue in that future
		l = r.run.futures.late
	}
	st, ok := l.Of(ref)
	return outcome.LateReason(st.Reason), ok
}
