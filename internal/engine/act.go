package engine

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Outcome is what came of a decision.
type Outcome struct {
	Decision Decision
	// Disposition is the decision's when all requests succeeded, else Defer or Vanish.
	Disposition Disposition
	// Err is the first failure.
	Err error
}

// Act sends the requests of a decision in their order. The first failure ends
// them, except that orphaning tries every dependent before it gives up. It holds
// no state.
func Act(ctx context.Context, api API, d Decision) Outcome { return act(ctx, served{api}, d) }

func act(ctx context.Context, api writer, d Decision) Outcome {
	out := Outcome{Decision: d}
	out.act(ctx, api)
	return out
}

// act carries the decision out, and notes what came of it.
func (out *Outcome) act(ctx context.Context, api writer) {
	d := &out.Decision
	out.Disposition, out.Err = d.Disposition, d.Err
	for i := range d.Requests {
		r := &d.Requests[i]
		if out.Err != nil && r.Verb != RemoveOwners {
			break
		}
		err := sender{r, api}.send(ctx)
		if err == nil || r.TolerateAbsence && apierrors.IsNotFound(err) {
			continue
		}
		out.Err = errors.Join(out.Err, err)
		out.Disposition = Defer
		if r.Verb == DeleteObject && apierrors.IsNotFound(err) {
			out.Disposition, out.Err = Vanish, nil
		} else if d.Attempt.outdated(err) {
			out.judgeAgain()
		}
		if d.Attempt.Work == DeleteWork {
			break
		}
	}
}

// outdated reports whether an answer says that the object is not what the attempt
// took it for.
func (a *Attempt) outdated(err error) bool {
	return a.pin() == PinVersion && (apierrors.IsConflict(err) || apierrors.IsNotFound(err))
}

// judgeAgain has the attempt repeated with a fresh read, if that was not done
// often enough.
func (out *Outcome) judgeAgain() {
	if out.Decision.Attempt.Tries < freshTries {
		out.Disposition = Again
		return
	}
	out.Decision.Reason = reason.Contended
}
