package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// withFutures adds to the effects what they are before finalizers are removed, and what
// they are when others do, too; with those objects that nothing happens to before.
func (s *simulation) withFutures(effects []report.Effect, all *outcome.Outcomes) []report.Effect {
	if s.futures.first == nil {
		return effects
	}
	h := s.bothHolds(all)
	for i := range effects {
		e := &effects[i]
		out := s.judge.Of(all, object.Ref(e.Object))
		switch {
		case out == nil:
		case isRewritten(e) && s.judge.Of(s.futures.first, object.Ref(e.Object)) == nil:
			s.rewrittenAfter(e, out, h.first, outcome.AfterRelease)
		default:
			s.addFutures(e, out.Track, h)
		}
	}
	var more []report.Effect
	for _, out := range s.sorted(s.futures.last) {
		if all.At(s.tracks.Key(out.Track.First)) != nil || out.AlreadyHappening || !s.near().concerns(out) || s.endsByHealing(out.Track) {
			continue
		}
		e := report.Effect{Object: report.RefOf(out.Track.First.Ref), Outcome: report.Kept, Reason: string(reason.UntilFinalizerComesOff), Message: "stays"}
		if r, refused := s.futures.refused[out.Track.First.Ref]; refused && r.Sure {
			e.Reason = string(outcome.RefusedReason(r))
			e.Message = keptSentence(&e) + ": " + r.Text()
		}
		if before := s.futures.untouched.At(s.tracks.Key(out.Track.First)); before != nil {
			e = s.effects(before)[0]
			e.AlreadyHappening = false
		}
		s.addFutures(&e, out.Track, h)
		// It stays, but not as it was.
		if _, rewritten := outcome.Rewriter(out.Reason); rewritten {
			e = s.effects(out)[0]
			s.rewrittenAfter(&e, out, h.expected, outcome.InLaterFuture)
			more = append(more, e)
			continue
		}
		if e.Later == "" && outcome.VolumeReleased(out.Track) && !s.judge.ClaimUnknown(all, out) {
			e = s.effects(out)[0]
			once := h.expected.of(out.Track.First)
			e.Once = once.all()
			e.Message += once.text(&e, s.futures.recovery)
			more = append(more, e)
			continue
		}
		if e.Later == "" && e.Outcome != report.Unknown {
			continue
		}
		if in, unknown := s.withUnknown(out, all, map[*outcome.Outcome]bool{}); unknown {
			e = report.Effect{Object: e.Object, Outcome: report.Unknown, Reason: string(reason.OwnerUnknown), Because: []report.Ref{report.RefOf(in)}}
			e.Message = "goes or stays with " + e.Because[0].ShortName()
		}
		more = append(more, e)
	}
	if len(more) > 0 {
		effects = append(effects, more...)
		slices.SortFunc(effects, func(a, b report.Effect) int { return object.Compare(object.Ref(a.Object), object.Ref(b.Object)) })
	}
	return effects
}

// rewrittenAfter says of an object that a controller rewrites that it does so only in a later
// phase, when finalizers have come off the object that goes.
func (s *simulation) rewrittenAfter(e *report.Effect, out *outcome.Outcome, before holds, phase outcome.Phases) {
	out.Track.Changed = phase
	for _, ref := range out.Because {
		if once := before.at(ref); once != nil {
			e.Once = once.all()
			e.Message += " when " + releaseText(e.Object, e.Once[0], len(e.Once))
			return
		}
	}
}

// withUnknown is what takes an object along in the end, where it is not known whether that
// goes: then it may take the object at once.
func (s *simulation) withUnknown(last *outcome.Outcome, all *outcome.Outcomes, on map[*outcome.Outcome]bool) (object.Ref, bool) {
	if last.Result != report.Deleted || on[last] {
		return object.Ref{}, false
	}
	on[last] = true // who goes round in a circle finds nothing
	for _, ref := range last.Because {
		out, next := s.judge.Of(all, ref), s.judge.Of(s.futures.last, ref)
		if out != nil && out.Result == report.Unknown {
			return ref, true
		}
		if out == nil && next != nil {
			if _, unknown := s.withUnknown(next, all, on); unknown {
				return ref, true
			}
		}
	}
	return object.Ref{}, false
}

// bothHolds are what holds objects at first, and when all that is expected has happened.
type bothHolds struct {
	first, expected holds
	// both are those of two lists together.
	both joins
	// any are the finalizers that come off in all, for who waits in an unknown way.
	any *once
}

func (s *simulation) bothHolds(all *outcome.Outcomes) bothHolds {
	h := bothHolds{first: s.holds(s.futures.first), expected: s.holds(all), both: joins{}}
	h.any = onceOf(slices.Concat(s.futures.expectedReleases, s.futures.otherReleases))
	if h.any == nil {
		h.any = onceOf(s.futures.releasesOfAwaited)
	}
	return h
}

// of are the holds of an object, for those outcomes that it has.
func (h bothHolds) of(o *object.Object, e *report.Effect) *once {
	switch {
	case e.Later == "":
		return h.first.of(o)
	case e.AtOnce == "":
		return h.expected.of(o)
	}
	return h.both.of(h.first.of(o), h.expected.of(o))
}

func (s *simulation) addFutures(e *report.Effect, tr *outcome.Track, h bothHolds) {
	if e.AlreadyHappening || e.Outcome == report.Unknown {
		return
	}
	if len(s.futures.expectedReleases)+len(s.futures.releasesOfAwaited) > 0 {
		at := report.Kept
		if tr.First.BeingDeleted() {
			at = report.Blocked
		}
		if first := s.judge.OfObject(s.futures.first, tr.First); first != nil {
			at = first.Result
		}
		if at != e.Outcome {
			e.AtOnce = at
		}
	}
	if last := s.judge.OfObject(s.futures.last, tr.First); last != nil && last.Result != e.Outcome {
		e.Later = last.Result
	}
	if e.AtOnce == "" && e.Later == "" {
		return
	}
	once := h.of(tr.First, e)
	if once == nil { // the way there is not known: all of them
		once = h.any
	}
	if e.Later == "" {
		once = once.onlyRunning()
	}
	e.Once = once.all()
	e.Message += once.text(e, s.futures.recovery)
}
