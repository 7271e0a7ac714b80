package engine

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Outcome is the result of carrying out a decision.
type Outcome struct {
	Decision Decision
	// Disposition is the decision's if all requests succeeded. After a failure it is Defer, Vanish
	// or Again.
	Disposition Disposition
	// Err is the first failure.
	Err error
}

// Act sends the requests of a decision in order. It stops at the first failure, except that
// orphaning tries every dependent first. It holds no state.
func Act(ctx context.Context, api API, d Decision) Outcome { return act(ctx, served{api}, d) }

func act(ctx context.Context, api writer, d Decision) Outcome {
	out := Outcome{Decision: d}
	out.act(ctx, api)
	return out
}

// act sends the requests of the decision and stores the result in out.
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

// outdated reports whether the error shows that the attempt rests on an old state of the object.
func (a *Attempt) outdated(err error) bool {
	return a.pin() == PinVersion && (apierrors.IsConflict(err) || apierrors.IsNotFound(err))
}

// judgeAgain has the attempt repeated with a fresh read. After freshTries of them it leaves it
// deferred, with the reason Contended.
func (out *Outcome) judgeAgain() {
	if out.Decision.Attempt.Tries < freshTries {
		out.Disposition = Again
		return
	}
	out.Decision.Reason = reason.Contended
}
