package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// removeRequestedFinalizers sends the user's requests to remove finalizers.
//
// Rule: spec §2.5, §12: the request that removes the last finalizer of an object that is being
// deleted also deletes the object.
func (s *simulation) removeRequestedFinalizers(ctx context.Context) error {
	for _, ref := range s.seed.Targets {
		target := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		if target == nil {
			return fmt.Errorf("%s is not in the snapshot", ref)
		}
		tr := s.tracks.Of(target)
		tr.Target = true
		s.recorder.runAs(outcome.ActorUser, string(reason.Requested), func() { tr.Refused = s.removeFinalizersFrom(ctx, target, s.seed.Finalizers) })
	}
	return nil
}

// removeFinalizersFrom removes finalizers from one object. Those in the spec of a namespace need a separate
// request.
func (s *simulation) removeFinalizersFrom(ctx context.Context, target *object.Object, names []string) error {
	if p := object.TakeFinalizers(target, names); len(p.TakeFinalizers) > 0 {
		if err := s.recorder.Patch(ctx, target.Ref, p); err != nil {
			return err
		}
	}
	if !target.Is(object.Namespace) {
		return nil
	}
	facts := object.NamespaceFacts{Finalizers: []string{finalizer.NamespaceToken}}
	if seen := target.NamespaceFacts(); seen != nil {
		facts = *seen
	}
	taken := func(name string) bool { return slices.Contains(names, name) }
	if !slices.ContainsFunc(facts.Finalizers, taken) {
		return nil
	}
	now, err := s.recorder.server.Get(ctx, target.Ref)
	if err != nil {
		return err
	}
	next := now.Clone()
	next.Edit().Facts = &object.NamespaceFacts{
		Phase: facts.Phase, Finalizers: slices.DeleteFunc(slices.Clone(facts.Finalizers), taken),
	}
	_, err = s.recorder.finalize(ctx, next)
	return err
}

// compareWithoutRequest marks outcomes that are the same without the request as AlreadyHappening,
// and removes those of unchanged objects. If the request removes a finalizer of the collector,
// deletions that follow from it depend on timing, because the collector may have been faster.
func (s *simulation) compareWithoutRequest(ctx context.Context, all *outcome.Outcomes) error {
	other := newSimulation(s.snap, CollectSeed(), Options{Rules: s.options.Rules, Health: s.options.Health, Record: RecordRequests}, assumptions{})
	if err := other.run(ctx); err != nil {
		return err
	}
	without := other.judge.Outcomes()
	race := slices.Contains(s.seed.Finalizers, object.Orphan) || slices.Contains(s.seed.Finalizers, object.Foreground)
	for key, out := range all.All() {
		if out.Track.Target {
			continue
		}
		switch b := without.At(key); {
		case b == nil || !sameWorstEnd(out, b):
			out.DependsOnTiming = out.DependsOnTiming || race && out.Result == report.Deleted
		case out.Track.Changed == 0 && len(out.Ends) == 0:
			all.Set(key, nil)
		default:
			out.AlreadyHappening = true
		}
	}
	all.RemoveIf(func(out *outcome.Outcome) bool { return s.isOnlyListedDependent(all, out) })
	return nil
}

// isOnlyListedDependent reports whether an unchanged object is only listed as a dependent of
// objects that are blocked without the request too.
func (s *simulation) isOnlyListedDependent(all *outcome.Outcomes, out *outcome.Outcome) bool {
	if out.Track.Target || out.Result != report.Kept || out.Track.Changed != 0 || out.Track.Decision.Phase != 0 || len(out.Ends) > 0 {
		return false
	}
	return !slices.ContainsFunc(out.Because, func(ref object.Ref) bool {
		owner := s.judge.Of(all, ref)
		return owner != nil && !owner.AlreadyHappening
	})
}

// sameWorstEnd reports whether the worst end of an object equals its end in a run without the
// request. The worst end is the one with the highest outcome.Rank.
func sameWorstEnd(out, without *outcome.Outcome) bool {
	most := out
	for _, e := range out.Ends {
		if outcome.Rank(e.Outcome.Result) > outcome.Rank(most.Result) {
			most = e.Outcome
		}
	}
	return most.Result == without.Result &&
		(most.Result != report.Blocked || (most.Track.Changed == 0) == (without.Track.Changed == 0))
}
