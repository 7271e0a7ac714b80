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
		if key := s.tracks.key(f.track.first.Ref); s.futures.standing[key] != nil {
			e = s.effects(fates{key: s.futures.standing[key]})[0]
			e.Baseline = false
		}
		s.addFutures(&e, f.track, h)
		// It stays, but not as it was.
		if e.Later == "" && released(f.track) && !s.claimUnknown(all, f) {
			e = s.effects(fates{s.tracks.key(f.track.first.Ref): f})[0]
			e.Once = h.last(f.track.first)
			e.Message += onceText(&e)
			more = append(more, e)
			continue
		}
		if e.Later == "" {
			continue
		}
		if in, unknown := s.withUnknown(f, all, map[*fate]bool{}); unknown {
			e = report.Effect{Object: e.Object, Outcome: report.Unknown, Reason: string(OwnerUnknown), Because: []report.Ref{report.RefOf(in)}}
			e.Message = "goes or stays with " + e.Because[0].KubectlName()
		}
		more = append(more, e)
	}
	if len(more) > 0 {
		effects = append(effects, more...)
		slices.SortFunc(effects, func(a, b report.Effect) int { return object.Compare(object.Ref(a.Object), object.Ref(b.Object)) })
	}
	return effects
}

// withUnknown is what takes an object along in the end of which it is not known whether
// it goes, because somebody is late with it or with what it waits for.
func (s *simulation) withUnknown(last *fate, all fates, on map[*fate]bool) (object.Ref, bool) {
	if s.futures.late == nil || last.outcome != report.Deleted || on[last] {
		return object.Ref{}, false
	}
	on[last] = true // who goes round in a circle finds nothing
	for _, ref := range last.because {
		f, next := s.fateIn(all, ref), s.fateIn(s.futures.last, ref)
		if f != nil && f.outcome == report.Unknown {
			return ref, true
		}
		if f == nil && next != nil {
			if _, unknown := s.withUnknown(next, all, on); unknown {
				return ref, true
			}
		}
	}
	return object.Ref{}, false
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

// claimUnknown tells whether it is not known if the claim of a volume goes.
func (s *simulation) claimUnknown(all fates, volume *fate) bool {
	return slices.ContainsFunc(s.claimOf(volume.track.first), func(claim object.Ref) bool {
		f := s.fateIn(all, claim)
		return f != nil && f.outcome == report.Unknown
	})
}

// last are the holds of an object to which something happens only in the last future.
func (h twoHolds) last(o *object.Object) []report.Release { return h.expected.of(o) }

func (s *simulation) addFutures(e *report.Effect, tr *track, h twoHolds) {
	if e.Baseline || e.Outcome == report.Unknown {
		return
	}
	if len(s.futures.expectedReleases)+len(s.futures.releasesOfAwaited) > 0 {
		at := report.Kept
		if tr.first.BeingDeleted() {
			at = report.Blocked
		}
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
		if len(e.Once) == 0 {
			e.Once = slices.Clone(s.futures.releasesOfAwaited)
		}
	}
	if e.Later == "" {
		e.Once = slices.DeleteFunc(slices.Clone(e.Once), func(r report.Release) bool { return r.State != report.ControllerRuns })
	}
	e.Message += onceText(e)
}
