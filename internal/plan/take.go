package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
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
		tr := s.tracks.of(target)
		tr.target = true
		s.recorder.as(actorUser, string(Requested), func() { tr.refused = s.takeFrom(ctx, target) })
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

// takenFate is a target that is gone, or that was not being deleted.
func (s *simulation) takenFate(f *fate) {
	tr := f.track
	f.reason = string(FinalizerTaken)
	switch {
	case tr.last != nil:
		f.outcome = report.Kept
	case s.recorder.text(tr.removedBy) == actorUser:
		f.detail = "it goes with this very request"
	}
}

// compare marks what happens without the request, too, and leaves out what is as
// it would be. Where the request takes a finalizer from the collector, what goes
// because of it is contested: the collector may have been quicker.
func (s *simulation) compare(ctx context.Context, all fates) error {
	other := newSimulation(s.snap, CollectSeed(), Options{Rules: s.options.Rules, Surroundings: s.options.Surroundings, NoSteps: true})
	if err := other.run(ctx, nil); err != nil {
		return err
	}
	without := other.fates()
	race := slices.Contains(s.seed.Finalizers, object.Orphan) || slices.Contains(s.seed.Finalizers, object.Foreground)
	for key, f := range all {
		if f.track.target {
			continue
		}
		switch b := without[key]; {
		case b == nil || !f.costsNoMore(b):
			f.contested = f.contested || race && f.outcome == report.Deleted
		case f.track.changed == 0 && len(f.ends) == 0:
			delete(all, key)
		default:
			f.baseline = true
		}
	}
	maps.DeleteFunc(all, func(_ types.UID, f *fate) bool { return s.standsBeside(all, f) })
	return nil
}

// standsBeside tells whether an object that nothing touched is only there as a dependent
// of what is blocked without the request, too.
func (s *simulation) standsBeside(all fates, f *fate) bool {
	if f.track.target || f.outcome != report.Kept || f.track.changed != 0 || f.track.decision.phase != 0 || len(f.ends) > 0 {
		return false
	}
	return !slices.ContainsFunc(f.because, func(ref object.Ref) bool {
		owner := s.fateIn(all, ref)
		return owner != nil && !owner.baseline
	})
}

// costsNoMore tells whether of all ends of an object that in which most of it is gone is
// like the one of a run without the request.
func (f *fate) costsNoMore(without *fate) bool {
	most := f
	for _, e := range f.ends {
		if rank(e.fate.outcome) > rank(most.outcome) {
			most = e.fate
		}
	}
	return most.outcome == without.outcome &&
		(most.outcome != report.Blocked || (most.track.changed == 0) == (without.track.changed == 0))
}
