package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// RefusedReason returns the reason code of a refused write.
func RefusedReason(r health.Refusal) reason.Code {
	switch {
	case r.Denial != nil && r.Sure:
		return reason.PolicyDenies
	case r.Denial != nil:
		return reason.PolicyUnknown
	case !r.Sure:
		return reason.WebhookUnknown
	case r.Webhook == nil:
		return reason.ConversionFails
	}
	return reason.WebhookUnreachable
}

// judgeUnadmitted handles an object to which a webhook, a policy or a conversion refused the
// collector's write.
func (j *Judge) judgeUnadmitted(out *Outcome) {
	r := j.Health.Refused[out.Track.First.Ref]
	out.Result, out.Reason, out.Because, out.Detail = report.Kept, string(RefusedReason(r)), j.goneOwners(out.Track.Decision), r.Text()
	if !r.Sure {
		out.MarkUnknown(RefusedReason(r))
	}
}

// blockedByRefusal names the webhook or policy that blocks the deletion of an object or of its
// content. Other reasons that hold the object are set already.
func (j *Judge) blockedByRefusal(out *Outcome, o *object.Object) {
	r, refused := j.Health.Refused[o.Ref]
	switch reason.Code(out.Reason) {
	case reason.OrphaningFails:
		x, ok := j.refusedOf(out.Blocked.Dependents)
		if !ok && len(out.Blocked.Dependents) == 0 && refused { // the refused write removes the object's own finalizer
			break
		}
		if ok {
			out.Detail = x.Text()
		}
		if ok && !x.Sure {
			out.MarkUnknown(RefusedReason(x))
		}
		return
	case reason.ContentRemains, "":
		if !refused {
			r, refused = j.refusedOf(out.Blocked.Dependents)
		}
	case reason.GracePeriodRuns:
	case reason.ContentNotCovered:
		if r, refused = j.Health.Hidden(o); refused && r.Sure {
			out.Result = report.Blocked
			if o.Definition() == nil { // a list that fails blocks like a delete that is refused
				out.Blocked.Conditions = slices.Compact(slices.Sorted(slices.Values(append(controllers.Wait{
					Controller: controllers.NamespaceName, Reason: controllers.Refused,
					Resource: object.Resource{Group: r.Definition.Group, Name: r.Definition.Plural},
				}.Conditions(), out.Blocked.Conditions...))))
			}
		}
	case reason.FinalizerRemains:
		w, ok := j.waitOf(o.Ref)
		protected := ok && w.holds != "" && len(out.Blocked.Finalizers) == 1
		refused = refused && (protected || j.attemptedAll(o))
		if x, denied := j.refusedOf(j.undeployed(o, func(now *object.Object) bool { return !now.BeingDeleted() })); denied {
			r, refused = x, true
		}
	default:
		return
	}
	if !refused {
		return
	}
	out.Reason, out.Detail = string(RefusedReason(r)), r.Text()
	if !r.Sure {
		out.MarkUnknown(RefusedReason(r))
	}
}

// attemptedAll reports whether the controllers of all finalizers of an object tried to remove them.
func (j *Judge) attemptedAll(o *object.Object) bool {
	tried := j.Attempted(o)
	return !slices.ContainsFunc(o.Finalizers(), func(name string) bool { return !slices.Contains(tried, name) })
}

// refusedOf returns why a write was refused to one of the objects that are not being deleted.
func (j *Judge) refusedOf(list []object.Ref) (health.Refusal, bool) {
	for _, d := range list {
		if r, ok := j.Health.Refused[d]; ok && j.stands(d) {
			return r, true
		}
	}
	return health.Refusal{}, false
}

// stands reports whether an object is neither gone nor being deleted.
func (j *Judge) stands(ref object.Ref) bool {
	tr := j.Tracks.ByUID(ref.UID)
	return tr == nil || tr.Last != nil && !tr.Last.BeingDeleted()
}
