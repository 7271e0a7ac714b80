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

// takeFinalizers sends the user's requests.
//
// Rule: spec §2.5, §12: an object that is being deleted goes with the very request
// that leaves it without a finalizer.
func (s *simulation) takeFinalizers(ctx context.Context) error {
	for _, ref := range s.seed.Targets {
		target := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		if target == nil {
			return fmt.Errorf("%s is not in the snapshot", ref)
		}
		tr := s.tracks.Of(target)
		tr.Target = true
		s.recorder.as(outcome.ActorUser, string(reason.Requested), func() { tr.Refused = s.takeFrom(ctx, target) })
	}
	return nil
}

// takeFrom takes the finalizers off one object. Those in the spec of a namespace
// have a request of their own.
func (s *simulation) takeFrom(ctx context.Context, target *object.Object) error {
	if p := object.TakeFinalizers(target, s.seed.Finalizers); len(p.TakeFinalizers) > 0 {
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
	taken := func(name string) bool { return slices.Contains(s.seed.Finalizers, name) }
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
	_, err = s.recorder.Finalize(ctx, next)
	return err
}

// compare marks what happens without the request, too, and leaves out what is as
// it would be. Where the request takes a finalizer from the collector, what goes
// because of it is contested: the collector may have been quicker.
func (s *simulation) compare(ctx context.Context, all *outcome.Outcomes) error {
	other := newSimulation(s.snap, CollectSeed(), Options{Rules: s.options.Rules, Surroundings: s.options.Surroundings, NoSteps: true})
	if err := other.run(ctx, nil); err != nil {
		return err
	}
	without := other.judge.Outcomes()
	race := slices.Contains(s.seed.Finalizers, object.Orphan) || slices.Contains(s.seed.Finalizers, object.Foreground)
	for key, out := range all.All() {
		if out.Track.Target {
			continue
		}
		switch b := without.At(key); {
		case b == nil || !costsNoMore(out, b):
			out.DependsOnTiming = out.DependsOnTiming || race && out.Result == report.Deleted
		case out.Track.Changed == 0 && len(out.Ends) == 0:
			all.Set(key, nil)
		default:
			out.AlreadyHappening = true
		}
	}
	all.RemoveIf(func(out *outcome.Outcome) bool { return s.standsBeside(all, out) })
	return nil
}

// standsBeside reports whether an object that nothing touched is only there as a dependent
// of what is blocked without the request, too.
func (s *simulation) standsBeside(all *outcome.Outcomes, out *outcome.Outcome) bool {
	if out.Track.Target || out.Result != report.Kept || out.Track.Changed != 0 || out.Track.Decision.Phase != 0 || len(out.Ends) > 0 {
		return false
	}
	return !slices.ContainsFunc(out.Because, func(ref object.Ref) bool {
		owner := s.judge.Of(all, ref)
		return owner != nil && !owner.AlreadyHappening
	})
}

// costsNoMore reports whether of all ends of an object that in which most of it is gone is
// like the one of a run without the request.
func costsNoMore(out, without *outcome.Outcome) bool {
	most := out
	for _, e := range out.Ends {
		if outcome.Rank(e.Outcome.Result) > outcome.Rank(most.Result) {
			most = e.Outcome
		}
	}
	return most.Result == without.Result &&
		(most.Result != report.Blocked || (most.Track.Changed == 0) == (without.Track.Changed == 0))
}
