package diagnose

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// mostTried and wholes limit the number of simulated objects, over all simulations, in the search
// for deletes that would take an object: mostTried objects plus wholes times the snapshot. Objects
// beyond the limit are counted, but not tried.
const (
	mostTried = 500_000
	wholes    = 4
)

// ExplanationOptions controls an explanation.
type ExplanationOptions struct {
	// AllPolicies lists the deletes that take the object under every policy, not only under the
	// mildest one.
	AllPolicies bool
	// Health is the health of controllers and APIs; nil if unknown.
	Health *health.Assessment
	// NoManager is true if no kube-controller-manager and no other controller deletes objects in time.
	NoManager bool
	// Unread: the object itself could not be read, only references to it. Its finalizers, its
	// owners and whether it is being deleted are unknown.
	Unread bool
}

// taking searches for the single deletes that take an object.
type taking struct {
	*question
	options ExplanationOptions
	// before is the outcome of the object without any request.
	before report.Outcome
	// refused reports that its namespace goes, and that the API server refuses to delete it.
	refused bool
	// cost is the number of objects simulated so far. See costOf.
	cost int
}

// takenBy lists the single deletes that take the object, nearest first: deletes of its owners and
// containers, of theirs, and of what it waits for. Each is simulated. An object that is deleted
// anyway has none.
//
// A delete that takes the object only after finalizers are removed is listed with these. A delete
// with an unknown effect is listed as such, unless the outcome is unknown without any delete, too.
func (q *question) takenBy(ctx context.Context, o ExplanationOptions, before report.Effect) (takers []report.Taker, untried int, err error) {
	if before.Outcome == report.Deleted {
		return nil, 0, nil
	}
	t := &taking{question: q, options: o, before: before.Outcome, refused: q.refusal() != ""}
	above := q.reach.Ancestors(q.target)
	for i, x := range above {
		if t.cost > mostTried+wholes*len(q.snap.Objects) {
			return takers, len(above) - i, nil
		}
		found, err := t.by(ctx, x, i)
		if err != nil {
			return nil, 0, err
		}
		takers = append(takers, found...)
	}
	return takers, 0, nil
}

// by tries the deletes of one object. It returns the mildest policy that is expected to take the
// target, else the mildest that takes it after finalizers are removed, else the mildest with an
// unknown effect. above is the number of nearer objects above the target.
func (t *taking) by(ctx context.Context, x *object.Object, above int) ([]report.Taker, error) {
	policies := []engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}
	if t.reach.IgnoresPolicy(x) {
		policies = policies[:1]
	}
	part := t.reach.About(t.target, x)
	var takers []report.Taker
	for i, policy := range policies {
		if i == 1 { // under other policies x waits for all its dependents, or releases them
			part = t.reach.Part(x, t.target)
		}
		t.cost += costOf(part, above)
		effect, err := plan.EffectOn(ctx, part, plan.DeleteSeed(policy, x.Ref), t.target, t.health)
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
	if t.options.AllPolicies && t.reach.IgnoresPolicy(x) {
		takers = underEveryPolicy(takers)
	}
	return takers, nil
}

// costOf returns the cost of a simulation in objects. In a chain of deployers, where each deletes the
// next, every deployer costs a look at all objects. The chain is at most as long as there are nearer objects
// above the target.
func costOf(part *snapshot.Snapshot, nearer int) int {
	const perLook = 16 // looks at an object that cost as much as its simulation
	return len(part.Objects) * (perLook + min(object.Count(part.Objects, plan.Deploys), nearer)) / perLook
}

// taker returns how a delete takes the target, and whether it does. A blocked target that is being
// deleted waits for its finalizers, whatever else is deleted.
func (t *taking) taker(x *object.Object, policy engine.Policy, e *report.Effect) (report.Taker, bool) {
	taker := report.Taker{Object: x.Ref, Policy: policy.String()}
	switch {
	case e.AlreadyHappening && e.Outcome != report.Unknown:
		return taker, false
	case e.Outcome == report.Deleted:
		taker.Once = e.Once
		return taker, true
	case e.Later == report.Deleted && t.before != report.Blocked && !t.refused:
		taker.Once, taker.Later = e.Once, true
		return taker, true
	default:
		taker.Unknown = e.Outcome == report.Unknown && t.before != report.Unknown
		return taker, taker.Unknown
	}
}

// underEveryPolicy repeats the takers for the policies that were not tried.
func underEveryPolicy(takers []report.Taker) []report.Taker {
	for _, taker := range takers {
		for _, policy := range []engine.Policy{engine.ForegroundPolicy, engine.OrphanPolicy} {
			taker.Policy = policy.String()
			takers = append(takers, taker)
		}
	}
	return takers
}
