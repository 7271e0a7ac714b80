package explain

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// OwnerIsGarbage is the reason of an object whose owner still exists but is garbage itself.
const OwnerIsGarbage = "OwnerIsGarbage"

// question is one object and everything asked about it.
type question struct {
	snap      *snapshot.Snapshot
	collector *engine.Collector
	// world has the objects of near.
	world    engine.World
	target   *object.Object
	attempt  engine.Attempt
	facts    engine.Facts
	decision engine.Decision
	reach    *impact.Map
	// near is the part of the snapshot that decides about the object.
	near *snapshot.Snapshot
	// users are the objects that use the object while it is being deleted, and so protect it.
	users []report.Ref
	// undecided: a delete was tried, and it is unknown whether it takes the object.
	undecided bool
	// goes: the object is deleted in the end without any request.
	goes bool
	// around is the health of controllers and APIs; nil if unknown.
	around *evidence.Surroundings
}

// Object explains one object. It returns an error if the object is not in the snapshot, or if a
// simulation does not end.
func Object(ctx context.Context, snap *snapshot.Snapshot, ref object.Ref, o Options) (*report.Explanation, error) {
	target := snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if target == nil {
		return nil, fmt.Errorf("%s is not in the snapshot", ref)
	}
	q := &question{snap: snap, target: target, around: o.Surroundings}
	q.collector = plan.Start(snap, engine.Upstream)
	e := &report.Explanation{
		APIVersion: report.APIVersion, Kind: "Explanation", Source: plan.SourceOf(snap), Object: report.RefOf(target.Ref),
		Owners: []report.OwnerFinding{}, Dependents: []report.DependentFinding{}, Finalizers: []report.FinalizerFinding{},
		Chain: []report.ChainLink{}, TakenBy: []report.Taker{}, Remedies: []report.Remedy{}, Gaps: []report.Gap{},
	}
	attempt, ok := q.collector.Inspect(target.UID)
	if !ok {
		e.Verdict, e.Reason = report.Undecidable, reason.NotObserved.String()
		e.Message = fmt.Sprintf("the garbage collector does not watch the kind %s: it never touches this object", target.Kind)
		return e, nil
	}
	if shared(snap, target.UID) {
		e.Verdict, e.Reason = report.Undecidable, string(reason.SharedUID)
		e.Message = "another object has the same uid: the garbage collector cannot tell them apart"
		return e, nil
	}
	q.reach = impact.New(snap, q.collector.Graph())
	q.near = q.reach.Part(target)
	q.world = plan.World(q.near)
	q.ask(ctx, attempt)
	if err := q.answer(ctx, o, e); err != nil {
		return nil, err
	}
	if o.Unread {
		e.Verdict, e.Reason, e.Complete = report.Undecidable, reason.ObjectNotCovered.String(), false
		e.Message = "the object itself was not read: its finalizers, its owners and whether it is being deleted are unknown"
		if r, err := snap.Resources.For(target.APIVersion, target.Kind); err == nil {
			for i, g := range e.Gaps {
				e.Gaps[i].Matters = g.Matters || g.APIVersion == r.APIVersion() && g.Resource == r.Name
			}
		}
	}
	if other := plan.DifferenceOf(snap, target); len(other) > 0 {
		e.Source.VersionDifferences, e.Complete = other, false
	}
	return e, nil
}

// shared reports whether several objects of the snapshot have the uid.
func shared(snap *snapshot.Snapshot, uid types.UID) bool {
	return slices.ContainsFunc(snap.Problems, func(p snapshot.Problem) bool {
		return p.Kind == snapshot.DuplicateUID && p.Object.UID == uid
	})
}

// ask runs the engine's next lookup and decision about the object.
func (q *question) ask(ctx context.Context, a engine.Attempt) {
	q.attempt = a
	q.facts = engine.Examine(ctx, q.world, engine.Upstream, a)
	q.decision = q.collector.Decide(engine.Lookup(ctx, q.world, engine.Upstream, a))
}

func (q *question) answer(ctx context.Context, o Options, e *report.Explanation) error {
	effect, err := q.effect(ctx)
	if err != nil {
		return err
	}
	q.goes = effect.Outcome == report.Deleted
	q.verdict(e, effect)
	e.Next = nextRequest(q.decision)
	e.Owners = append(e.Owners, q.owners()...)
	e.Dependents = append(e.Dependents, q.dependents()...)
	e.Finalizers = append(e.Finalizers, finalizers(q.target)...)
	e.Chain = append(e.Chain, q.chain(ctx)...)
	q.surround(e)
	takers, untried, err := q.takenBy(ctx, o, effect)
	if err != nil {
		return err
	}
	e.TakenBy, e.TakersUntried = append(e.TakenBy, takers...), untried
	if e.Deadlock, err = q.deadlock(ctx, effect); err != nil {
		return err
	}
	remedies, err := q.remedies(ctx, e)
	if err != nil {
		return err
	}
	e.Remedies = append(e.Remedies, remedies...)
	gaps, open := q.unseen(ctx, e).Gaps(q.snap, func(ns string) bool { return ns == q.target.Namespace })
	e.Gaps, e.Complete = append(e.Gaps, gaps...), !open
	return nil
}

// effect returns what the collector does to the object without any request.
func (q *question) effect(ctx context.Context) (report.Effect, error) {
	return plan.EffectOn(ctx, q.near, plan.CollectSeed(), q.target, q.around)
}

// deletes is the prefix of the next request if the collector deletes the object.
const deletes = "DELETE "

func nextRequest(d engine.Decision) string {
	for _, r := range d.Requests {
		switch r.Verb {
		case engine.DeleteObject:
			return deletes + r.Policy.String()
		case engine.RemoveOwners:
			return "PATCH ownerReferences"
		case engine.RemoveFinalizer:
			return "PATCH finalizers"
		case engine.Unblock:
			return "PATCH blockOwnerDeletion"
		}
	}
	return ""
}
