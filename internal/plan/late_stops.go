package plan

import (
	"errors"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// errLate is the answer to a write that is not made, because who should make it does
// not.
var errLate = errors.New("should have been changed or deleted minutes ago")

// stopsWrite refuses a write of a controller that is late with it.
func (r *recorder) stopsWrite(ref object.Ref) error {
	if r.beside.Late == nil || r.actor == outcome.ActorCollector || !r.beside.Late.Stops(r.actor, r.sake(ref)) {
		return nil
	}
	return errLate
}

// sake is the object for whose end the actor at work writes to another one: the
// namespace or the definition that it is in.
func (r *recorder) sake(ref object.Ref) object.Ref {
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

// collectorStops reports whether the collector is late with a write: with the finalizer of
// an object, or with a dependent that has to go, or to be let go, before that comes off.
func (r *recorder) collectorStops(ref object.Ref) (reason.Code, bool) {
	if r.beside.Late == nil || r.actor != outcome.ActorCollector {
		return "", false
	}
	if r.beside.Late.Stops(outcome.ActorCollector, ref) {
		st, _ := r.beside.Late.Of(ref)
		return outcome.LateReason(st.Reason), true
	}
	owner := r.beside.Late.Owner(r.server, ref)
	if owner == nil {
		return "", false
	}
	st, _ := r.beside.Late.Of(owner.Ref)
	return outcome.LateReason(st.Reason), true
}

// Late says why somebody who could long have gone on with the deletion of an object has
// not; false where nobody is late with it.
func (r *Result) Late(ref object.Ref) (reason.Code, bool) {
	l := r.run.neighbours.Late
	if r.run.futures.healed { // in that future nobody is
		l = r.run.futures.late
	}
	st, ok := l.Of(ref)
	return outcome.LateReason(st.Reason), ok
}
