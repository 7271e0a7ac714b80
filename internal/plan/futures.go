package plan

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// futures are what follows when finalizers of others come off that hold what our
// requests have left terminating. First those come off whose controllers run: that is
// what the plan expects. Then all others do, for nobody can promise that they stay.
type futures struct {
	// first are the fates at once, and last those in the end.
	first, last fates
	// releases are the finalizers that came off, of those expected and of all others.
	expectedReleases, otherReleases []report.Release
	// releasesOfAwaited are those that others had deleted before.
	releasesOfAwaited []report.Release
	// judged are the finalizers that were asked about.
	judged map[report.Release]report.Release
	// tried are the finalizers that were taken off, or that the server has kept.
	tried map[types.UID][]string
	// expected is the world when everything expected has happened, and steps the number
	// of requests until then; they are only set if it goes on after that.
	expected []*object.Object
	steps    int
	// healed tells that everybody answers in the end who did not: what ends then need
	// not follow from our requests.
	healed bool
	// late is who was late before.
	late *late
	// deletedBefore tells whether the snapshot has an object that is being deleted; nil
	// until somebody asks. waitsFor is what awaited objects wait for themselves, and
	// standing are the fates of such objects when everything expected has happened.
	deletedBefore *bool
	waitsFor      map[types.UID][]report.Ref
	// awaitsAny tells that there are awaited objects.
	awaitsAny bool
	// met tells that it was looked for what takes something together with our requests,
	// and together are those.
	met      bool
	together []object.Ref
	// withoutUs are the objects that go with what others had deleted before, and without
	// our requests; nil until somebody asks.
	withoutUs map[types.UID]bool
	standing  fates
}

// over tells whether a step belongs to the future that the plan does not expect.
func (f *futures) over(step int) bool { return f.expected != nil && step > f.steps }

func (f *futures) try(uid types.UID, names []string) {
	if f.tried == nil {
		f.tried = map[types.UID][]string{}
	}
	f.tried[uid] = append(f.tried[uid], names...)
}

// expect has those finalizers come off whose controllers run.
func (s *simulation) expect(ctx context.Context, random *rand.Rand) error {
	if s.options.Controller == nil {
		return nil
	}
	runs := func(r report.Release) bool { return r.State == report.ControllerRuns }
	if !s.anyHeld(runs) {
		return nil
	}
	s.futures.first = s.fates()
	s.tracks.phase = afterRelease
	var err error
	s.futures.expectedReleases, err = s.release(ctx, random, runs, afterOthers)
	return err
}

// goOn has every finalizer come off that may, in surroundings that all work again, and
// notes in the tracks what follows. What was expected is judged already.
func (s *simulation) goOn(ctx context.Context, all fates) error {
	every := func(report.Release) bool { return true }
	heals := s.neighbours.around != nil && all.waitForSurroundings()
	if !heals && !s.anyHeld(every) {
		return nil
	}
	if s.futures.first == nil {
		s.futures.first = all
	}
	s.futures.standing = s.standing(all)
	s.futures.expected, s.futures.steps = s.after(), s.recorder.records.len()
	s.tracks.phase = inLaterFuture
	if heals {
		s.heal()
		s.futures.healed = true
		if err := s.drain(ctx, nil); err != nil {
			return err
		}
	}
	var err error
	if s.futures.otherReleases, err = s.release(ctx, nil, every, laterOfOthers); err != nil {
		return err
	}
	s.futures.last = s.fates()
	for _, f := range all {
		// It may have happened anyway, and now it follows from our requests.
		f.anyway = f.anyway || f.baseline && f.track.changed&inLaterFuture != 0 && !f.track.awaited && !s.endsByHealing(f.track)
	}
	return nil
}

// endsByHealing tells whether an object goes on in the end because somebody answers again,
// and our requests have nothing to do with it.
func (s *simulation) endsByHealing(tr *track) bool {
	return s.futures.healed && tr.changed&(afterSeed|afterRelease|afterOthers) == 0 && !s.reaches(tr.first)
}

// waitForSurroundings tells whether something stays that may go when nodes, APIs and
// webhooks answer again.
func (all fates) waitForSurroundings() bool {
	for _, f := range all {
		switch {
		case f.outcome == report.Blocked:
			return true
		case f.outcome == report.Kept || f.outcome == report.Unknown:
			switch Reason(f.reason) {
			case WebhookUnreachable, ConversionFails, WebhookUnknown, RequestRefused:
				return true
			}
			if IsLate(Reason(f.reason)) {
				return true
			}
		}
	}
	return false
}

// heal has everybody answer from now on.
func (s *simulation) heal() {
	s.neighbours.around = nil
	clear(s.neighbours.refused)
	clear(s.recorder.refused)
	s.futures.late, s.recorder.late = s.recorder.late, nil
	maps.DeleteFunc(s.recorder.kept, func(_ object.Ref, why Reason) bool { return IsLate(why) })
	s.collector.Wake()
}

// release takes those finalizers off that are wanted, until nothing more follows: first
// of what follows from our requests, and then, in the other phase, of what others had
// deleted before as well.
func (s *simulation) release(ctx context.Context, random *rand.Rand, wanted func(report.Release) bool, others phases) (done []report.Release, err error) {
	for {
		list := s.held(wanted)
		if len(list) == 0 && s.tracks.phase != others && s.await() {
			s.tracks.phase = others
			list = s.held(wanted)
		}
		if len(list) == 0 {
			return done, nil
		}
		for _, h := range list {
			s.recorder.as(h.actor, string(ReleasedLater), func() {
				// A refusal shows: the object is then as it was.
				_ = s.recorder.Patch(ctx, h.object.Ref, object.TakeFinalizers(h.object, h.names))
			})
			s.futures.try(h.object.UID, h.names)
			if s.tracks.of(h.object).awaited {
				s.futures.releasesOfAwaited = append(s.futures.releasesOfAwaited, h.releases...)
			} else {
				done = append(done, h.releases...)
			}
		}
		if err := s.drain(ctx, random); err != nil {
			return nil, err
		}
		if s.tracks.phase == others {
			s.await()
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

func (s *simulation) anyHeld(wanted func(report.Release) bool) bool {
	s.await()
	for _, tr := range s.tracks.byUID {
		if h := s.holding(tr, wanted, true); len(h.names) > 0 {
			return true
		}
	}
	return false
}

// held lists what finalizers of others hold of what follows from our requests, and in the
// phases of others of what somebody else had deleted before, by name.
func (s *simulation) held(wanted func(report.Release) bool) []holding {
	others := s.tracks.phase&(afterOthers|laterOfOthers) != 0
	var list []holding
	for _, tr := range s.tracks.byUID {
		if h := s.holding(tr, wanted, others); len(h.names) > 0 {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b holding) int { return object.Compare(a.object.Ref, b.object.Ref) })
	return list
}

func (s *simulation) holding(tr *track, wanted func(report.Release) bool, others bool) holding {
	h := holding{object: tr.last}
	if tr.last == nil || !tr.last.BeingDeleted() || len(tr.last.Finalizers()) == 0 {
		return h
	}
	if theirs := others && tr.awaited; !theirs && (!s.caused(tr) || s.endsByHealing(tr)) {
		return h
	}
	for _, r := range s.releasesOf(tr.last) {
		if slices.Contains(s.futures.tried[tr.last.UID], r.Finalizer) || !wanted(r) {
			continue
		}
		h.names, h.releases = append(h.names, r.Finalizer), append(h.releases, r)
		h.actor = actorReleaser
		if r.Controller != "" {
			h.actor = r.Controller
		}
	}
	return h
}

// releasesOf are the finalizers of others that hold an object. What the collector and
// the clean-up of content take off, they take off by themselves; what a simulated
// controller protects comes off when nobody uses it any more, and may do so later.
func (s *simulation) releasesOf(o *object.Object) []report.Release {
	var list []report.Release
	for _, name := range o.Finalizers() {
		if name == object.Foreground || name == object.Orphan || name == controllers.DefinitionCleanup {
			continue
		}
		r := report.Release{Object: report.RefOf(o.Ref), Finalizer: name, State: report.ControllerUnknown}
		list = append(list, s.judged(o, r))
	}
	return list
}

// judged says who takes a finalizer off, and whether he runs.
func (s *simulation) judged(o *object.Object, r report.Release) report.Release {
	if s.options.Controller == nil || s.rest.releases(r.Finalizer) {
		return r
	}
	if known, ok := s.futures.judged[r]; ok {
		return known
	}
	judged := r
	judged.Controller, judged.State = s.options.Controller(o, r.Finalizer)
	if s.futures.judged == nil {
		s.futures.judged = map[report.Release]report.Release{}
	}
	s.futures.judged[r] = judged
	return judged
}

// releases tells whether a simulated controller takes the finalizer off.
func (w *restOfWorld) releases(finalizer string) bool {
	return slices.ContainsFunc(w.controllers, func(c controllers.Controller) bool {
		r, ok := c.(controllers.Releaser)
		return ok && r.Finalizer() == finalizer
	})
}

// holds are the finalizers that have to come off before something happens to an
// object, from what it waits for and is kept by at some time.
type holds struct {
	*simulation
	fates fates
	known map[types.UID][]report.Release
}

func (h holds) of(o *object.Object) []report.Release {
	key := h.tracks.key(o.Ref)
	if list, ok := h.known[key]; ok {
		return list
	}
	h.known[key] = nil // who waits in a circle adds nothing
	var found union
	f := h.fates[key]
	if f != nil && f.track.first.Ref != o.Ref {
		f = nil
	}
	switch {
	case f != nil && f.blocked != nil:
		found.add(h.named(o, f.blocked.Finalizers))
		for _, d := range f.blocked.Dependents {
			found.add(h.at(object.Ref(d)))
		}
	case f != nil && f.outcome == report.Deleted:
	case f == nil && h.tracks.byUID[key] != nil && h.tracks.byUID[key].awaited:
		found.add(h.releasesOf(o))
		for _, d := range h.futures.waitsFor[key] {
			found.add(h.at(object.Ref(d)))
		}
	default:
		for _, ref := range o.Owners {
			found.add(h.at(h.locate(ref, o.Namespace)))
		}
		if o.Namespace != "" && len(found.list) == 0 {
			found.add(h.at(object.Namespace.Ref("", o.Namespace)))
		}
		if v := o.Volume(); v != nil {
			for _, claim := range h.claimOf(o) {
				found.add(h.at(claim))
			}
		}
	}
	h.known[key] = found.list
	return found.list
}

// union lists releases, each once. A namespace may wait for thousands.
type union struct {
	list []report.Release
	has  map[report.Release]bool
}

func (u *union) add(more []report.Release) {
	if u.has == nil {
		u.has = make(map[report.Release]bool, len(more))
	}
	for _, r := range more {
		if !u.has[r] {
			u.has[r] = true
			u.list = append(u.list, r)
		}
	}
}

// at are the holds of the object at some coordinates, if it is terminating.
func (h holds) at(ref object.Ref) []report.Release {
	o := h.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil {
		return nil
	}
	return h.of(o)
}

// named are the releases of these finalizers of an object.
func (h holds) named(o *object.Object, names []string) []report.Release {
	return slices.DeleteFunc(h.releasesOf(o), func(r report.Release) bool { return !slices.Contains(names, r.Finalizer) })
}
