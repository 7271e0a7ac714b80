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

// standStill gives the outcome of an object with which nobody goes on: proven to stay, or
// not known.
func (out *Outcome) standStill(st Standstill) {
	out.Result, out.Reason, out.Detail = report.Blocked, string(LateReason(st.Reason)), st.Detail
	if st.Reason == reason.ControllerNotWorking {
		out.Detail = st.actor
	}
	if !st.Proven {
		out.MarkUnknown(reason.Code(out.Reason))
	}
}

// StandsOpen reports whether it is not known what becomes of an object, because somebody is
// late with it: another run can say no more.
func (out *Outcome) StandsOpen() bool {
	return out.Result == report.Unknown && reason.Code(out.Reason).Late()
}

// blockedByLate is about an object with which somebody should long have gone on. What
// else holds it holds it for certain.
func (j *Judge) blockedByLate(out *Outcome, o *object.Object) {
	st, ok := j.Neighbours.Late.Of(o.Ref)
	if ok {
		out.Blocked.Conditions = nil // who would write them does not
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
			out.late = &st // whoever else holds it may hold it for certain
			return
		}
	case "", reason.FinalizerRemains, reason.GracePeriodRuns, reason.OrphaningFails:
	case reason.ContentNotCovered: // the word of the controller that has failed says more
	default:
		return
	}
	if len(out.Blocked.Finalizers) == 0 {
		out.Blocked.Finalizers = slices.Clone(o.Finalizers())
	}
	out.standStill(st)
}

// blockedBesides says of a namespace with which its controller is late what holds it for
// certain: tokens of others, and APIs that discovery cannot name.
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

// foreignTokens are those in the spec of a namespace that others have to remove.
func foreignTokens(o *object.Object) []string {
	facts := o.NamespaceFacts()
	if facts == nil {
		return nil
	}
	list := slices.DeleteFunc(slices.Clone(facts.Finalizers), func(name string) bool { return name == finalizer.NamespaceToken })
	slices.Sort(list)
	return slices.Compact(list)
}

// untouched reports whether nobody has deleted any of these objects.
func (j *Judge) untouched(list []report.Ref) bool {
	return !slices.ContainsFunc(list, func(r report.Ref) bool {
		o, err := j.Server.Get(context.Background(), object.Ref(r))
		return err != nil || o.BeingDeleted()
	})
}

// addLate adds the outcomes of those objects that others wait for, and with which somebody
// is late: they are as they would be without our requests.
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

// mayYetGo tells of an object that nothing has touched whether somebody may yet delete
// it who is late with that: then it is not known to stay.
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
