package explain

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// verdict says what the object is, from the next decision about it and from what
// becomes of it when nobody does anything.
func (q *question) verdict(e *report.Explanation, fate report.Effect) {
	e.Reason = q.decision.Reason.String()
	switch {
	case q.attempt.WaitingForDependents:
		e.Verdict = report.WaitingForDependents
		e.Message = q.waitingMessage(fate)
		if fate.Outcome == report.Blocked || fate.Outcome == report.Unknown {
			e.Reason = fate.Reason
		}
	case q.attempt.BeingDeleted:
		q.deletedVerdict(e, fate)
	case fate.Outcome == report.Deleted || fate.Outcome == report.Blocked:
		e.Verdict = report.Garbage
		e.Message = fate.Message
		if len(q.decision.Requests) == 0 {
			e.Reason = OwnerIsGarbage
			e.Message = "its owner still exists and will be collected: so will this object"
		}
	case fate.Outcome == report.Unknown || q.decision.Err != nil && q.decision.Reason != engine.OwnerRefInvalidNamespace:
		e.Verdict = report.Undecidable
		e.Message = q.decision.Reason.Text()
		if q.decision.Err != nil {
			e.Message = q.decision.Err.Error()
		}
	default:
		e.Verdict = report.Live
		e.Message = q.decision.Reason.Text()
	}
}

// deletedVerdict is about an object that is being deleted and does not wait for
// dependents.
func (q *question) deletedVerdict(e *report.Explanation, fate report.Effect) {
	e.Verdict = report.BeingDeleted
	e.Message = "is being deleted, and nothing holds it that the collector does not remove"
	if fate.Outcome == report.Blocked {
		e.Reason, e.Message = fate.Reason, fate.Message
	}
	var foreign []string
	for _, name := range q.target.Finalizers() {
		if name != object.Foreground && name != object.Orphan {
			foreign = append(foreign, name)
		}
	}
	if len(foreign) > 0 {
		e.Verdict = report.HeldByFinalizer
		e.Message = fmt.Sprintf("is being deleted and held by %s; the collector leaves it alone", strings.Join(foreign, ", "))
	}
}

func (q *question) waitingMessage(fate report.Effect) string {
	switch fate.Outcome {
	case report.Blocked:
		return "is being deleted in the foreground and stays: " + fate.Message
	case report.Unknown:
		return "is being deleted in the foreground: " + fate.Message
	default:
		return "is being deleted in the foreground, and will be gone once its blocking dependents are"
	}
}
