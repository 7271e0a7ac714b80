package plan

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// future is a way on from where nothing more happens by itself: finalizers of others come
// off.
type future struct {
	// wanted are the finalizers that come off.
	wanted func(report.Release) bool
	// ours is its first phase, in which they come off what follows from our requests,
	// until nothing more follows. In the phase others they come off what others had
	// deleted before as well, as far as ours depends on it: what happens then need not
	// follow from our requests.
	ours, others outcome.Phases
}

func everyRelease(report.Release) bool { return true }

func byRunning(r report.Release) bool { return r.State == report.ControllerRuns }

// The futures, in their order. A run goes through the phases
//
//	inBaseline, afterSeed:        at once, with every finalizer of others where it is
//	afterRelease, afterOthers:    expected
//	inLaterFuture, laterOfOthers: later
var (
	// expected: those come off whose controllers run. That is what the plan shows.
	expected = future{wanted: byRunning, ours: outcome.AfterRelease, others: outcome.AfterOthers}
	// later: all others do, for nobody can promise that they stay, and everybody answers
	// again who does not.
	later = future{wanted: everyRelease, ours: outcome.InLaterFuture, others: outcome.LaterOfOthers}
)

// futures are what a run has come to in each future. They are empty where no finalizer
// of others holds anything.
type futures struct {
	// first are the outcomes at once, and last those in the end. What is expected is what
	// the run is judged by between them.
	first, last *outcome.Outcomes
	// untouched are the outcomes of what others had deleted before, and nothing had
	// happened to when everything expected had.
	untouched *outcome.Outcomes
	// expectedReleases and otherReleases came off what follows from our requests, and
	// releasesOfAwaited what others had deleted before.
	expectedReleases, otherReleases, releasesOfAwaited []report.Release
	// tried are the finalizers that were taken off, or that the server has kept.
	tried map[types.UID][]string
	// end is the world when everything expected has happened, and steps the number of
	// requests until then; they are only set if it goes on after that.
	end   []*object.Object
	steps int
	// healed: everybody answers who did not, so that what ends then need not follow from
	// our requests; late is who was late until then.
	healed bool
	late   *outcome.Late
	// refused are the writes that were refused until then.
	refused map[object.Ref]evidence.Refusal
	// recovery says when that is, after "once".
	recovery string
}

// over reports whether a step belongs to the future that the plan does not expect.
func (f *futures) over(step int) bool { return f.end != nil && step > f.steps }

func (f *futures) try(uid types.UID, names []string) {
	if f.tried == nil {
		f.tried = map[types.UID][]string{}
	}
	f.tried[uid] = append(f.tried[uid], names...)
}

// expect goes on to the expected future.
func (s *simulation) expect(ctx context.Context, random *rand.Rand) error {
	if s.options.Controller == nil || !s.anyHeld(expected) {
		return nil
	}
	s.futures.first = s.judge.Outcomes()
	var err error
	s.futures.expectedReleases, err = s.release(ctx, random, expected)
	return err
}

// goOn goes on to the later future, and notes in the tracks what follows. What was
// expected is judged already.
func (s *simulation) goOn(ctx context.Context, all *outcome.Outcomes) error {
	heals := s.neighbours.Around != nil && waitForSurroundings(all)
	if !heals && !s.anyHeld(later) {
		return nil
	}
	if s.futures.first == nil {
		s.futures.first = all
	}
	s.futures.untouched = s.awaited.untouched(all)
	s.futures.end, s.futures.steps = s.after(), s.recorder.records.len()
	if heals {
		s.heal()
		s.tracks.Phase = later.ours
		if err := s.drain(ctx, nil); err != nil {
			return err
		}
	}
	var err error
	if s.futures.otherReleases, err = s.release(ctx, nil, later); err != nil {
		return err
	}
	s.futures.last = s.judge.Outcomes()
	for _, out := range all.All() {
		// It may have happened anyway, and now it follows from our requests.
		out.Anyway = out.Anyway || out.AlreadyHappening && out.Track.Changed&outcome.InLaterFuture != 0 && !out.Track.Awaited && !s.endsByHealing(out.Track)
	}
	return nil
}

// endsByHealing reports whether an object goes on in the end because somebody answers again,
// and our requests have nothing to do with it.
func (s *simulation) endsByHealing(tr *outcome.Track) bool {
	return s.futures.healed && tr.Changed&(outcome.AfterSeed|outcome.AfterRelease|outcome.AfterOthers) == 0 && !s.cause.reaches(tr.First)
}

// refusals are why a write fails that may succeed later.
var refusals = []reason.Code{
	reason.WebhookUnreachable, reason.ConversionFails, reason.WebhookUnknown, reason.PolicyDenies, reason.PolicyUnknown, reason.RequestRefused,
}

// waitForSurroundings reports whether something stays that may go when nodes, APIs and
// webhooks answer again.
func waitForSurroundings(all *outcome.Outcomes) bool {
	for _, out := range all.All() {
		switch why := reason.Code(out.Reason); out.Result {
		case report.Blocked:
			return true
		case report.Kept, report.Unknown:
			if why.Late() || slices.Contains(refusals, why) {
				return true
			}
		case report.Deleted, report.Orphaned, report.Pruned:
		}
	}
	return false
}

// heal has everybody answer from now on.
func (s *simulation) heal() {
	s.futures.healed, s.futures.late, s.futures.recovery = true, s.neighbours.Late, s.neighbours.Recovery()
	s.futures.refused = maps.Clone(s.neighbours.Refused)
	s.neighbours.Around, s.neighbours.Late = nil, nil
	clear(s.neighbours.Refused)
	clear(s.recorder.refused)
	maps.DeleteFunc(s.recorder.kept, func(_ object.Ref, why reason.Code) bool { return why.Late() })
	s.collector.Wake()
}

// release has the finalizers of a future come off, until nothing more follows.
func (s *simulation) release(ctx context.Context, random *rand.Rand, next future) (done []report.Release, err error) {
	s.tracks.Phase = next.ours
	for {
		list := s.held(next)
		if len(list) == 0 && s.tracks.Phase != next.others && s.awaited.find() {
			s.tracks.Phase = next.others
			list = s.held(next)
		}
		if len(list) == 0 {
			return done, nil
		}
		for _, h := range list {
			s.recorder.as(h.actor, string(reason.FinalizerComesOff), func() {
				// A refusal shows: the object is then as it was.
				_ = s.recorder.Patch(ctx, h.object.Ref, object.TakeFinalizers(h.object, h.names))
			})
			s.futures.try(h.object.UID, h.names)
			if s.tracks.Of(h.object).Awaited {
				s.futures.releasesOfAwaited = append(s.futures.releasesOfAwaited, h.releases...)
			} else {
				done = append(done, h.releases...)
			}
		}
		if err := s.drain(ctx, random); err != nil {
			return nil, err
		}
		if s.tracks.Phase == next.others {
			s.awaited.find()
		}
	}
}

// holding is an object that finalizers of others hold.
type holding struct {
	object   *object.Object
	names    []string
	releases []report.Release
	actor    string
}

// anyHeld reports whether a future has anything come off.
func (s *simulation) anyHeld(next future) bool {
	s.awaited.find()
	for _, tr := range s.tracks.All() {
		if h := s.holding(tr, next, true); len(h.names) > 0 {
			return true
		}
	}
	return false
}

// held lists what comes off next in a future, by name.
func (s *simulation) held(next future) []holding {
	var list []holding
	for _, tr := range s.tracks.All() {
		if h := s.holding(tr, next, s.tracks.Phase == next.others); len(h.names) > 0 {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b holding) int { return object.Compare(a.object.Ref, b.object.Ref) })
	return list
}

func (s *simulation) holding(tr *outcome.Track, next future, others bool) holding {
	h := holding{object: tr.Last}
	if tr.Last == nil || !tr.Last.BeingDeleted() || len(tr.Last.Finalizers()) == 0 {
		return h
	}
	if theirs := others && tr.Awaited; !theirs && (!s.cause.caused(tr) || s.endsByHealing(tr)) {
		return h
	}
	for _, r := range s.finalizers.of(tr.Last) {
		if slices.Contains(s.futures.tried[tr.Last.UID], r.Finalizer) || !next.wanted(r) {
			continue
		}
		h.names, h.releases = append(h.names, r.Finalizer), append(h.releases, r)
		h.actor = outcome.ActorReleaser
		if r.Controller != "" {
			h.actor = r.Controller
		}
	}
	return h
}
