package explain

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/surroundings"
)

// mostTried bounds the simulated objects, all simulations together, when the deletes
// are looked for that would take an object; wholes is how many whole snapshots come on
// top of that. What lies further away is not tried, and counted.
const (
	mostTried = 500_000
	wholes    = 4
)

// Options say how to explain.
type Options struct {
	// AllPolicies lists the deletes that take the object under each policy, not only
	// under the mildest that does.
	AllPolicies bool
	// Surroundings are what is known of those who act beside the collector; nil for
	// nothing.
	Surroundings *surroundings.Surroundings
}

// taking looks for the single deletes after which an object is gone.
type taking struct {
	*question
	options Options
	// before is what becomes of the object when nobody deletes anything.
	before report.Outcome
	// cost is how many objects were simulated so far.
	cost int
}

// takenBy lists the single deletes after which the object is gone: of what owns or
// contains it, of what owns or contains that, and of what it waits for; nearest first.
// Each is simulated. An object that goes anyway is taken by nobody.
//
// Where it is not known whether a delete takes the object, it is listed as such, unless
// that much is not known without any delete.
func (q *question) takenBy(ctx context.Context, o Options, before report.Effect) (takers []report.Taker, untried int, err error) {
	if before.Outcome == report.Deleted {
		return nil, 0, nil
	}
	t := &taking{question: q, options: o, before: before.Outcome}
	above := q.reach.Above(q.target)
	for i, x := range above {
		if t.cost > mostTried+wholes*len(q.snap.Objects) {
			return takers, len(above) - i, nil
		}
		found, err := t.by(ctx, x)
		if err != nil {
			return nil, 0, err
		}
		takers = append(takers, found...)
	}
	return takers, 0, nil
}

// by tries the deletes of one object: the mildest policy that takes the target for
// certain, else the mildest of which that is not known.
func (t *taking) by(ctx context.Context, x *object.Object) ([]report.Taker, error) {
	policies := []engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}
	if t.reach.Indifferent(x) {
		policies = policies[:1]
	}
	part := t.reach.Part(x, t.target)
	var takers []report.Taker
	for _, policy := range policies {
		t.cost += len(part.Objects)
		effect, err := plan.EffectOn(ctx, part, plan.DeleteSeed(policy, x.Ref), t.target, t.around)
		if err != nil {
			return nil, err
		}
		certain := effect.Outcome == report.Deleted && !effect.Baseline
		unknown := effect.Outcome == report.Unknown && t.before != report.Unknown
		taker := report.Taker{Object: report.RefOf(x.Ref), Policy: policy.String(), Unknown: unknown}
		switch {
		case !certain && !unknown:
		case t.options.AllPolicies:
			takers = append(takers, taker)
		case certain:
			return []report.Taker{taker}, nil
		case len(takers) == 0:
			takers = append(takers, taker)
		}
	}
	if t.options.AllPolicies && t.reach.Indifferent(x) {
		takers = underEveryPolicy(takers)
	}
	return takers, nil
}

// underEveryPolicy repeats for the other policies what was tried under one.
func underEveryPolicy(takers []report.Taker) []report.Taker {
	for _, taker := range takers {
		for _, policy := range []engine.Policy{engine.ForegroundPolicy, engine.OrphanPolicy} {
			taker.Policy = policy.String()
			takers = append(takers, taker)
		}
	}
	return takers
}
