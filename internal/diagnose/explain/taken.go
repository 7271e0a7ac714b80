package explain

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
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
	Surroundings *evidence.Surroundings
	// Unread tells that the object itself could not be read, only what names it. Nothing is
	// known about its finalizers, its owners and whether it is being deleted.
	Unread bool
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
// A delete that takes it once finalizers are removed is listed with them. Where it is not
// known whether a delete takes the object, it is listed as such, unless that much is not
// known without any delete.
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

// by tries the deletes of one object: the mildest policy that is expected to take the
// target, else the mildest that takes it if finalizers are removed, else the mildest of
// which it is not known.
func (t *taking) by(ctx context.Context, x *object.Object) ([]report.Taker, error) {
	policies := []engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}
	if t.reach.Indifferent(x) {
		policies = policies[:1]
	}
	part := t.reach.About(t.target, x)
	var takers []report.Taker
	for i, policy := range policies {
		if i == 1 { // under other policies the owner waits for all dependents, or releases them
			part = t.reach.Part(x, t.target)
		}
		t.cost += len(part.Objects)
		effect, err := plan.EffectOn(ctx, part, plan.DeleteSeed(policy, x.Ref), t.target, t.around)
		if err != nil {
			return nil, err
		}
		t.undecided = t.undecided || effect.Outcome == report.Unknown
		taker, takes := t.taker(x, policy, &effect)
		switch {
		case !takes:
		case t.options.AllPolicies:
			takers = append(takers, taker)
		case !taker.Unknown && !taker.Later:
			return []report.Taker{taker}, nil
		case len(takers) == 0:
			takers = append(takers, taker)
		case takers[0].Unknown && taker.Later:
			takers[0] = taker
		}
	}
	if t.options.AllPolicies && t.reach.Indifferent(x) {
		takers = underEveryPolicy(takers)
	}
	return takers, nil
}

// taker says how a delete takes the target, and whether it does. What is being deleted
// and held goes with the finalizers that hold it, whatever is deleted beside.
func (t *taking) taker(x *object.Object, policy engine.Policy, e *report.Effect) (report.Taker, bool) {
	taker := report.Taker{Object: report.RefOf(x.Ref), Policy: policy.String()}
	switch {
	case e.AlreadyHappening && e.Outcome != report.Unknown:
		return taker, false
	case e.Outcome == report.Deleted:
		taker.Once = e.Once
		return taker, true
	case e.Later == report.Deleted && t.before != report.Blocked:
		taker.Once, taker.Later = e.Once, true
		return taker, true
	default:
		taker.Unknown = e.Outcome == report.Unknown && t.before != report.Unknown
		return taker, taker.Unknown
	}
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
