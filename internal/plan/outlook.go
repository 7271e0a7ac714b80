package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// withFutures adds to the effects what they are before finalizers come off, and what
// they are when others do, too; with those objects that nothing happens to before.
func (s *simulation) withFutures(effects []report.Effect, all fates) []report.Effect {
	if s.futures.first == nil {
		return effects
	}
	h := twoHolds{
		first: holds{s, s.futures.first, map[types.UID][]report.Release{}}, expected: holds{s, all, map[types.UID][]report.Release{}},
	}
	for i := range effects {
		e := &effects[i]
		if f := s.fateIn(all, object.Ref(e.Object)); f != nil {
			s.addFutures(e, f.track, h)
		}
	}
	var more []report.Effect
	for _, f := range s.sorted(s.futures.last) {
		if all[s.tracks.key(f.track.first.Ref)] != nil || f.baseline || !s.concerns(f, nil) || s.endsByHealing(f.track) {
			continue
		}
		e := report.Effect{Object: report.RefOf(f.track.first.Ref), Outcome: report.Kept, Reason: string(UntilReleased), Message: "stays"}
		s.addFutures(&e, f.track, h)
		if e.Later != "" {
			more = append(more, e)
		}
	}
	if len(more) > 0 {
		effects = append(effects, more...)
		slices.SortFunc(effects, func(a, b report.Effect) int { return object.Compare(object.Ref(a.Object), object.Ref(b.Object)) })
	}
	return effects
}

// twoHolds are what holds objects at first, and when all that is expected has happened.
type twoHolds struct{ first, expected holds }

// of are the holds of an object, for those outcomes that it has.
func (h twoHolds) of(o *object.Object, e *report.Effect) []report.Release {
	switch {
	case e.Later == "":
		return h.first.of(o)
	case e.AtOnce == "":
		return h.expected.of(o)
	}
	var both union
	both.add(h.first.of(o))
	both.add(h.expected.of(o))
	return both.list
}

func (s *simulation) addFutures(e *report.Effect, tr *track, h twoHolds) {
	if e.Baseline || e.Outcome == report.Unknown {
		return
	}
	if len(s.futures.expectedReleases) > 0 {
		at := report.Kept
		if first := s.fateIn(s.futures.first, tr.first.Ref); first != nil {
			at = first.outcome
		}
		if at != e.Outcome {
			e.AtOnce = at
		}
	}
	if last := s.fateIn(s.futures.last, tr.first.Ref); last != nil && last.outcome != e.Outcome {
		e.Later = last.outcome
	}
	if e.AtOnce == "" && e.Later == "" {
		return
	}
	e.Once = h.of(tr.first, e)
	if len(e.Once) == 0 { // the way there is not known: all of them
		e.Once = slices.Concat(s.futures.expectedReleases, s.futures.otherReleases)
	}
	if e.Later == "" {
		e.Once = slices.DeleteFunc(slices.Clone(e.Once), func(r report.Release) bool { return r.State != report.ControllerRuns })
	}
	e.Message += onceText(e)
}
