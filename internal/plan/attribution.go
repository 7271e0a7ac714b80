package plan

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// attribution separates the effects of our requests from what would happen without them. Most runs
// need it only if something had changed before the seed, or if other actors change something while
// we collect. So the paths are computed on first use.
type attribution struct {
	snap   *snapshot.Snapshot
	seed   Seed
	tracks *outcome.Tracks
	// writes returns the requests that a collection has sent so far.
	writes func() []Write
	// cachedMap is the impact map of the snapshot before our first request. The collector that owns
	// its graph must not run any further.
	cachedMap *reach.Map
	// reached is the set of objects that deletes of our requested objects may touch.
	reached *reach.Set
	// withoutUs maps each object that changes without our requests, once earlier deletions finish,
	// to its last state: nil if it is deleted. See simulation.findWithoutUs.
	withoutUs map[outcome.Key]*object.Object
}

// caused reports whether a change to an object follows from our requests, or may follow from them.
// That includes changes that would have happened anyway, if our requests reach the object.
func (c *attribution) caused(tr *outcome.Track) bool {
	switch {
	case tr.Target:
		return true
	case tr.Changed == 0, tr.Awaited:
		return false
	case c.seed.Verb == Delete && c.Follows(tr):
		return true
	default:
		return c.reaches(tr.First)
	}
}

// Follows reports whether an object changed after our requests and because of them. If it changed
// only when finalizers were removed from earlier deletions, our requests must reach it, and it must
// not end the same way without them.
func (c *attribution) Follows(tr *outcome.Track) bool {
	switch {
	case tr.Awaited:
		return false
	case tr.Changed&(outcome.AfterSeed|outcome.AfterRelease|outcome.InLaterFuture) != 0:
		return true
	case tr.Changed&(outcome.AfterOthers|outcome.LaterOfOthers) == 0:
		return false
	default:
		return c.reaches(tr.First) && !c.endsSameWithoutUs(tr)
	}
}

// Besides reports whether the collector looked at an object only because of earlier deletions that
// are unrelated to our requests.
func (c *attribution) Besides(tr *outcome.Track) bool {
	return tr.Decision.Phase&(outcome.AfterOthers|outcome.LaterOfOthers) != 0 && !c.reaches(tr.First)
}

// reaches reports whether deletes of our requested objects may touch an object.
func (c *attribution) reaches(o *object.Object) bool {
	if c.reached == nil {
		c.computeReached(c.impactMap())
	}
	return c.reached.Has(o)
}

// impactMap returns the impact map of the snapshot before our first request.
func (c *attribution) impactMap() *reach.Map {
	if c.cachedMap == nil {
		c.cachedMap = reach.New(c.snap, Start(c.snap, engine.Upstream).Graph())
	}
	return c.cachedMap
}

// computeReached computes reached on an impact map of the snapshot before our first request.
func (c *attribution) computeReached(m *reach.Map) {
	c.reached = m.ReachableFrom(c.requested()...)
}

// requested returns the objects of our requests. For a collection, these are the objects that it
// has written to.
func (c *attribution) requested() []*object.Object {
	var list []*object.Object
	add := func(ref object.Ref) {
		if o := c.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
			list = append(list, o)
		}
	}
	for _, ref := range c.seed.Targets {
		add(ref)
	}
	if c.seed.Verb == Collect {
		for _, w := range c.writes() {
			add(w.Object)
		}
	}
	return list
}

// endsSameWithoutUs reports whether an object ends the same way without our requests, once the
// finalizers are removed from earlier deletions.
func (c *attribution) endsSameWithoutUs(tr *outcome.Track) bool {
	end, touched := c.withoutUs[c.tracks.Key(tr.First)]
	if !touched || end == nil {
		return touched
	}
	return tr.Last != nil && end.BeingDeleted() == tr.Last.BeingDeleted() && slices.Equal(end.Owners, tr.Last.Owners) &&
		slices.Equal(end.Finalizers(), tr.Last.Finalizers())
}

// findWithoutUs finds what happens without our requests: in another run, which sends none of them, it
// removes every finalizer from the earlier deletions that this run waits for.
func (s *simulation) findWithoutUs(ctx context.Context) error {
	var theirs []*object.Object
	for _, tr := range s.tracks.All() {
		if tr.Awaited {
			theirs = append(theirs, tr.First)
		}
	}
	world := s.attribution.impactMap().Part(theirs...)
	other := newSimulation(world, CollectSeed(), Options{Rules: s.options.Rules, Record: RecordNothing}, assumptions{})
	if err := other.runUntilReleases(ctx); err != nil {
		return err
	}
	for _, o := range theirs {
		other.tracks.Of(o).Awaited = true
	}
	other.priorDeletions.deletedBefore = new(false) // these are all of them
	alone := future{selects: anyRelease, firstPhase: outcome.LaterOfOthers, awaitedPhase: outcome.LaterOfOthers}
	if _, err := other.removeFinalizers(ctx, nil, alone); err != nil {
		return err
	}
	s.attribution.withoutUs = map[outcome.Key]*object.Object{}
	for _, o := range world.Objects {
		if tr := other.tracks.Known(o); tr != nil && tr.Changed != 0 {
			s.attribution.withoutUs[s.tracks.Key(o)] = tr.Last
		}
	}
	return nil
}

// markCaused sets Anyway on outcomes that our requests cause but that would have happened without
// them too. Which of the two comes first is unknown, and the end is the same.
func (c *attribution) markCaused(all *outcome.Outcomes) {
	for _, out := range all.All() {
		if out.AlreadyHappening && (c.caused(out.Track) || out.Result == report.Unknown && c.reaches(out.Track.First)) {
			out.Anyway = true
		}
	}
}

// markUnrelated marks objects outside the reach of our requests as AlreadyHappening if their
// outcome depends on timing. It depends on what the collector remembers of other deletions, and our
// requests do not cause that.
func (c *attribution) markUnrelated(all *outcome.Outcomes) {
	if c.seed.Verb == Collect {
		return
	}
	for key, out := range all.All() {
		if !out.DependsOnTiming || out.AlreadyHappening || c.reaches(out.Track.First) {
			continue
		}
		if tr := c.tracks.At(key); tr == nil || !c.caused(tr) {
			out.AlreadyHappening = true
		}
	}
}
