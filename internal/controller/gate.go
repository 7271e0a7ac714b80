package controller

import (
	"context"
	"errors"
	"time"

	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/policy"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// refusal is why a request was not sent. Nothing but the mode refuses without a reason.
type refusal struct {
	Reason reason.Code
	Text   string
}

// Error is the text.
func (r *refusal) Error() string { return r.Text }

var (
	errObserving  = &refusal{Text: "the controller observes, it does not write"}
	errNotLeading = refuse(reason.NotLeading)
	errTripped    = refuse(reason.SafetyLimitTripped)
	errGathering  = refuse(reason.Gathering)
)

func refuse(why reason.Code) *refusal { return &refusal{why, reason.Gate.Short(why)} }

// hold is how long a request is not asked about again that was refused for a reason
// that does not pass by itself.
const hold = 10 * time.Minute

// holdBack is engine.RunOptions.Hold.
func holdBack(r *engine.RefusedError) time.Duration {
	switch refusal, _ := errors.AsType[*refusal](r); refusal {
	case nil, errNotLeading:
		return 0
	case errGathering:
		return gathering
	default:
		return hold
	}
}

// gate decides about requests before they are sent.
type gate struct {
	enforce bool
	policy  policy.Policy
	breaker *circuitBreaker
	// garbage counts it before it is deleted; nil for no such count.
	garbage *garbageRateLimit
	fence   *leaseFence
	// deletes limits deletes alone; nil for no limit.
	deletes flowcontrol.RateLimiter
}

// before is engine.RunOptions.Before. What lasts longest is looked at first, so that
// a refusal names the reason that would remain.
func (g *gate) before(ctx context.Context, r engine.Request) error {
	if r.Verb == engine.DeleteObject {
		if refusal := g.protected(r); refusal != nil {
			return refusal
		}
	}
	// What is not sent must not count: that could trip the limit.
	if err := g.mayWrite(); err != nil {
		return err
	}
	if r.Verb == engine.DeleteObject {
		if err := g.bounded(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// bounded holds a delete against how many there are.
func (g *gate) bounded(ctx context.Context, r engine.Request) error {
	if g.garbage != nil {
		settled, why, err := g.garbage.see(ctx, r.Ref.UID)
		switch {
		case err != nil:
			return err
		case why != "":
			g.breaker.trip(garbageShare, why)
			return errTripped
		case !settled:
			return errGathering
		}
	}
	if g.deletes != nil {
		if err := g.deletes.Wait(ctx); err != nil {
			return err
		}
		if !g.fence.holds() {
			return errNotLeading // it was lost while this one waited
		}
	}
	if !g.breaker.take() {
		return errTripped
	}
	return nil
}

// protected refuses the delete of an object that must not go, or of which nobody
// knows whether it may.
func (g *gate) protected(r engine.Request) error {
	if r.Live == nil {
		return &refusal{reason.ProtectedByAnnotation, "it was never seen, so it may be protected"}
	}
	if why, ok := g.policy.Check(r.Live); ok {
		return &refusal{why, "it is protected: " + string(why)}
	}
	return nil
}

// mayWrite is the last look before a write starts, whatever it is.
func (g *gate) mayWrite() error {
	switch {
	case !g.enforce:
		return errObserving
	case g.breaker.isTripped():
		return errTripped
	case !g.fence.holds():
		return errNotLeading
	default:
		return nil
	}
}
