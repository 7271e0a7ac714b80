package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addFutureEffects sets AtOnce of each effect to its outcome before finalizers are removed, and
// Later to its outcome in the later future. It adds effects on objects that change only in the
// later future.
func (s *simulation) addFutureEffects(effects []report.Effect, all *outcome.Outcomes) []report.Effect {
	if s.futures.first == nil {
		return effects
	}
	h := s.futureReleases(all)
	for i := range effects {
		e := &effects[i]
		out := s.judge.Of(all, object.Ref(e.Object))
		switch {
		case out == nil:
		case isRewritten(e) && s.judge.Of(s.futures.first, object.Ref(e.Object)) == nil:
			s.setRewrittenLater(e, out, h.first, outcome.AfterRelease)
		default:
			s.setFutureOutcomes(e, out.Track, h)
		}
	}
	var more []report.Effect
	for _, out := range s.sortOutcomes(s.futures.last) {
		if all.At(s.tracks.Key(out.Track.First)) != nil || out.AlreadyHappening || !s.namespaceScope().includes(out) || s.changesByRecovery(out.Track) {
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
		s.setFutureOutcomes(&e, out.Track, h)
		// The object stays, but changes.
		if _, rewritten := outcome.Rewriter(out.Reason); rewritten {
			e = s.effects(out)[0]
			s.setRewrittenLater(&e, out, h.expected, outcome.InLaterFuture)
			more = append(more, e)
			continue
		}
		if e.Later == "" && outcome.VolumeReleased(out.Track) && !s.judge.ClaimUnknown(all, out) {
			e = s.effects(out)[0]
			required := h.expected.releasesFor(out.Track.First)
			e.Once = required.releases()
			e.Message += required.messageSuffix(&e, s.futures.recovery)
			more = append(more, e)
			continue
		}
		if e.Later == "" && e.Outcome != report.Unknown {
			continue
		}
		if in, unknown := s.findUnknownCause(out, all, map[*outcome.Outcome]bool{}); unknown {
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

// setRewrittenLater records that a controller rewrites an object only in a later phase, once
// finalizers have been removed from the deleted object that the rewrite follows.
func (s *simulation) setRewrittenLater(e *report.Effect, out *outcome.Outcome, before requiredReleases, phase outcome.Phases) {
	out.Track.Changed = phase
	for _, ref := range out.Because {
		if required := before.releasesAt(ref); required != nil {
			e.Once = required.releases()
			e.Message += " when " + releaseText(e.Object, e.Once[0], len(e.Once))
			return
		}
	}
}

// findUnknownCause returns the object that takes another one along in the later future, if its own
// outcome is unknown. It may then take the other one at once. on contains the outcomes visited so
// far.
func (s *simulation) findUnknownCause(last *outcome.Outcome, all *outcome.Outcomes, on map[*outcome.Outcome]bool) (object.Ref, bool) {
	if last.Result != report.Deleted || on[last] {
		return object.Ref{}, false
	}
	on[last] = true // a cycle finds nothing
	for _, ref := range last.Because {
		out, next := s.judge.Of(all, ref), s.judge.Of(s.futures.last, ref)
		if out != nil && out.Result == report.Unknown {
			return ref, true
		}
		if out == nil && next != nil {
			if _, unknown := s.findUnknownCause(next, all, on); unknown {
				return ref, true
			}
		}
	}
	return object.Ref{}, false
}

// futureReleases contains the finalizers that hold objects at first, and after the expected future.
type futureReleases struct {
	first, expected requiredReleases
	// unions caches the union of the two sets of an object.
	unions unionCache
	// all contains all finalizers that are removed, for objects with an unknown set of their own.
	all *releaseSet
}

func (s *simulation) futureReleases(all *outcome.Outcomes) futureReleases {
	h := futureReleases{first: s.requiredReleases(s.futures.first), expected: s.requiredReleases(all), unions: unionCache{}}
	h.all = newReleaseSet(slices.Concat(s.futures.expectedReleases, s.futures.otherReleases))
	if h.all == nil {
		h.all = newReleaseSet(s.futures.releasesOfAwaited)
	}
	return h
}

// releasesFor returns the finalizers that must be removed before an object reaches the outcomes of
// its effect.
func (h futureReleases) releasesFor(o *object.Object, e *report.Effect) *releaseSet {
	switch {
	case e.Later == "":
		return h.first.releasesFor(o)
	case e.AtOnce == "":
		return h.expected.releasesFor(o)
	}
	return h.unions.union(h.first.releasesFor(o), h.expected.releasesFor(o))
}

func (s *simulation) setFutureOutcomes(e *report.Effect, tr *outcome.Track, h futureReleases) {
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
	required := h.releasesFor(tr.First, e)
	if required == nil { // its own set is unknown: all of them
		required = h.all
	}
	if e.Later == "" {
		required = required.onlyRunning()
	}
	e.Once = required.releases()
	e.Message += required.messageSuffix(e, s.futures.recovery)
}
