package outcome

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// standStill sets the outcome of a deletion that does not progress: blocked if that is proven,
// unknown otherwise.
func (out *Outcome) standStill(st Standstill) {
	out.Result, out.Reason, out.Detail = report.Blocked, string(LateReason(st.Reason)), st.Detail
	if st.Reason == reason.ControllerNotWorking {
		out.Detail = st.actor
	}
	if !st.Proven {
		out.MarkUnknown(reason.Code(out.Reason))
	}
}

// StandsOpen reports whether an outcome is unknown because a controller is overdue. Another run
// cannot tell more.
func (out *Outcome) StandsOpen() bool {
	return out.Result == report.Unknown && reason.Code(out.Reason).Late()
}

// blockedByLate handles an object with an overdue deletion. Anything else that holds it holds it for
// certain.
func (j *Judge) blockedByLate(out *Outcome, o *object.Object) {
	st, ok := j.Neighbours.Late.Of(o.Ref)
	if ok {
		out.Blocked.Conditions = nil // the overdue controller would write them
	}
	if !ok || slices.ContainsFunc(out.Blocked.Finalizers, func(name string) bool { return !slices.Contains(st.holds, name) }) {
		return
	}
	if j.blockedBesides(out, o) {
		return
	}
	switch reason.Code(out.Reason) {
	case reason.BlockingDependents, reason.ContentRemains:
		if !j.untouched(out.Blocked.Dependents) {
			out.late = &st // the other objects may hold it for certain
			return
		}
	case "", reason.FinalizerRemains, reason.GracePeriodRuns, reason.OrphaningFails:
	case reason.ContentNotCovered: // the failed controller explains more than the gap
	default:
		return
	}
	if len(out.Blocked.Finalizers) == 0 {
		out.Blocked.Finalizers = slices.Clone(o.Finalizers())
	}
	out.standStill(st)
}

// blockedBesides handles a namespace with an overdue controller. It sets what holds it for certain:
// tokens of other controllers, and APIs that discovery lacks.
func (j *Judge) blockedBesides(out *Outcome, o *object.Object) bool {
	if o.Kind != "Namespace" || o.Group() != "" {
		return false
	}
	var failing []string
	for _, u := range j.Neighbours.Undiscovered() {
		if !u.Hidden {
			failing = append(failing, u.APIVersion+": "+u.Why)
		}
	}
	switch tokens := foreignTokens(o); {
	case len(tokens) > 0:
		out.Reason, out.Detail = string(reason.ContentRemains), "spec.finalizers has "+strings.Join(tokens, ", ")
	case len(failing) > 0:
		out.Reason, out.Detail = string(j.discoveryReason()), strings.Join(failing, "; ")
	default:
		return false
	}
	out.Result, out.Blocked.Dependents = report.Blocked, nil
	return true
}

// foreignTokens returns the entries of spec.finalizers that other controllers must remove.
func foreignTokens(o *object.Object) []string {
	facts := o.NamespaceFacts()
	if facts == nil {
		return nil
	}
	list := slices.DeleteFunc(slices.Clone(facts.Finalizers), func(name string) bool { return name == finalizer.NamespaceToken })
	slices.Sort(list)
	return slices.Compact(list)
}

// untouched reports whether all of these objects exist and none is being deleted.
func (j *Judge) untouched(list []report.Ref) bool {
	return !slices.ContainsFunc(list, func(r report.Ref) bool {
		o, err := j.Server.Get(context.Background(), object.Ref(r))
		return err != nil || o.BeingDeleted()
	})
}

// addLate adds the objects that others wait for and that have an overdue deletion. They are as they
// would be without our requests.
func (j *Judge) addLate(all *Outcomes) {
	if j.Neighbours.Late == nil {
		return
	}
	var more []*Track
	for _, out := range all.All() {
		if out.Blocked == nil {
			continue
		}
		for _, ref := range out.Blocked.Dependents {
			if _, is := j.Neighbours.Late.Of(object.Ref(ref)); !is || j.Of(all, object.Ref(ref)) != nil {
				continue
			}
			if o, err := j.Server.Get(context.Background(), object.Ref(ref)); err == nil {
				more = append(more, j.Tracks.Of(o))
			}
		}
	}
	for _, tr := range more {
		out := &Outcome{Track: tr, AlreadyHappening: !j.Collects}
		j.judgeBlocked(out)
		j.set(all, tr.First, out)
	}
}

// mayYetGo reports whether an overdue controller may still delete an object that nothing touched.
// Such an object is not known to stay.
func (j *Judge) mayYetGo(ref object.Ref) bool {
	if j.Neighbours.Late == nil {
		return false
	}
	open := func(of object.Ref) bool {
		st, ok := j.Neighbours.Late.Of(of)
		return ok && !st.Proven
	}
	if ref.Namespace != "" && open(NamespaceRef(ref.Namespace)) {
		return true
	}
	if res, err := j.Server.Resource(ref.APIVersion, ref.Kind); err == nil && open(j.Snap.RefTo(object.CRD, "", res.GroupResource().String())) {
		return true
	}
	owner := j.Neighbours.Late.Owner(j.Server, ref)
	return owner != nil && open(owner.Ref)
}
