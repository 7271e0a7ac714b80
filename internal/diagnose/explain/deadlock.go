package explain

import (
	"context"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// deadlock returns why a deletion never ends by itself, if the cause is not a finalizer. It follows
// the waits from dependent to dependent. It returns nil if it finds no deadlock.
//
// Rule: spec §3.16, Q1–Q4, Q20.
func (q *question) deadlock(ctx context.Context, effect report.Effect) (*report.Deadlock, error) {
	if !q.target.BeingDeleted() || effect.Outcome != report.Blocked && effect.Outcome != report.Unknown {
		return nil, nil
	}
	result, err := plan.Simulate(ctx, q.near, plan.CollectSeed(), plan.Options{Surroundings: q.around, NoSteps: true})
	if err != nil {
		return nil, err
	}
	effects := map[report.Ref]*report.Effect{}
	for i := range result.Plan.Effects {
		effects[result.Plan.Effects[i].Object] = &result.Plan.Effects[i]
	}
	start := report.RefOf(q.target.Ref)
	from := map[report.Ref]report.Ref{start: start}
	open := []report.Ref{start}
	for i := 0; i < len(open); i++ {
		at := open[i]
		if d := q.end(ctx, at, effects[at]); d != nil {
			d.Path = pathTo(from, at)
			return d, nil
		}
		if e := effects[at]; e != nil && e.BlockedBy != nil && waitsForDependents(e) {
			for _, next := range e.BlockedBy.Dependents {
				if _, met := from[next]; !met {
					from[next] = at
					open = append(open, next)
				}
			}
		}
	}
	return nil, nil
}

// waitsForDependents reports whether an object waits for dependents, and not for content or users.
func waitsForDependents(e *report.Effect) bool {
	switch reason.Code(e.Reason) {
	case reason.BlockingDependents, reason.CycleOfWaiting, reason.WaitsForItself, reason.DependentUnknown:
		return true
	default:
		return false
	}
}

// end returns the deadlock at an object; nil if there is none.
func (q *question) end(ctx context.Context, at report.Ref, e *report.Effect) *report.Deadlock {
	name := at.ShortName()
	if e != nil && e.Outcome == report.Blocked {
		switch reason.Code(e.Reason) {
		case reason.WaitsForItself:
			return &report.Deadlock{Reason: e.Reason, Message: name + " is its own owner and blocks its own deletion"}
		case reason.CycleOfWaiting:
			return &report.Deadlock{Reason: e.Reason, Message: name + " and " + names(e.BlockedBy.Dependents) +
				" are all being deleted in the foreground and wait for one another"}
		case reason.DeletionMissed:
			return &report.Deadlock{Reason: e.Reason, Message: "the garbage collector has missed that the deletion of " + name +
				" began and does not look again until it restarts"}
		default:
			return nil
		}
	}
	a, ok := q.collector.Inspect(at.UID)
	if !ok || a.BeingDeleted {
		return nil
	}
	d := q.collector.Decide(engine.Lookup(ctx, q.world, engine.Upstream, a))
	switch {
	case d.Reason == reason.OwnerRefInvalidNamespace:
		return &report.Deadlock{Reason: d.Reason.String(), Message: name +
			" blocks, is in no namespace and names an owner in one: the garbage collector gives up on it, so that it never goes"}
	case d.Reason == reason.UnknownOwnerKind && q.snap.KnowsAllKinds():
		return &report.Deadlock{Reason: d.Reason.String(), Message: name +
			" blocks, and names another owner of a kind that is not served: the garbage collector decides nothing about it, so that it never goes"}
	}
	return nil
}

// names lists the first few objects.
func names(refs []report.Ref) string {
	const most = 3
	var list []string
	for _, r := range refs[:min(most, len(refs))] {
		list = append(list, r.ShortName())
	}
	if len(refs) > most {
		list = append(list, "others")
	}
	return strings.Join(list, ", ")
}

func pathTo(from map[report.Ref]report.Ref, at report.Ref) []report.Ref {
	path := []report.Ref{at}
	for from[at] != at {
		at = from[at]
		path = append([]report.Ref{at}, path...)
	}
	return path
}
