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
	// withoutUs is what happens without our requests. nil if nothing does.
	withoutUs *withoutUs
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

// withoutUs maps each object that changes without our requests to its last state in a future: nil if it
// is deleted.
type withoutUs struct {
	expected, later map[object.Ref]*object.Object
	// again is true if a request is about an object that is being deleted already: it asks what is still
	// to come.
	again bool
	// oursByHand are the objects that are deleted because of our requests if a person removes the finalizers
	// of the deployers that are not known to run. nil if there are none.
	//
	//	delete cm/a --cascade=orphan: cm/b loses a, and instance/op, which is being deleted, owns it, too
	//	kro runs:                     it deletes cm/b, whatever we do
	//	kro is gone:                  a person releases instance/op, and cm/b is garbage, but not without us
	oursByHand map[object.Ref]bool
}

// endsSameWithoutUs reports whether an object ends the same way without our requests, in the same
// future.
func (c *attribution) endsSameWithoutUs(tr *outcome.Track) bool {
	if c.withoutUs == nil || c.withoutUs.again || c.withoutUs.oursByHand[tr.First.Ref] {
		return false
	}
	ends := c.withoutUs.expected
	if tr.Changed&(outcome.InLaterFuture|outcome.LaterOfOthers) != 0 {
		ends = c.withoutUs.later
	}
	end, touched := ends[tr.First.Ref]
	if !touched || end == nil {
		return touched
	}
	return tr.Last != nil && end.BeingDeleted() == tr.Last.BeingDeleted() && slices.Equal(end.Owners, tr.Last.Owners) &&
		slices.Equal(end.Finalizers(), tr.Last.Finalizers())
}

// findWithoutUs runs the earlier deletions and what follows from them without our requests, through
// the same futures.
func (s *simulation) findWithoutUs(ctx context.Context) error {
	var theirs []*object.Object
	for _, o := range s.options.simulatedObjects(s.snap) {
		if s.priorDeletions.beingDeleted(o) {
			theirs = append(theirs, o)
		}
	}
	o := Options{
		Rules: s.options.Rules, Controller: s.options.Controller, Health: s.options.Health, Collector: s.options.Collector, Outside: s.options.Outside, Record: RecordNothing,
	}
	other := newSimulation(s.attribution.impactMap().Part(theirs...), CollectSeed(), o, assumptions{byHand: s.assumed.byHand})
	if err := other.runUntilReleases(ctx); err != nil {
		return err
	}
	for _, o := range theirs {
		other.tracks.Of(o) // what nothing touches has finalizers, too
	}
	w := &withoutUs{again: slices.ContainsFunc(s.attribution.requested(), (*object.Object).BeingDeleted)}
	if _, err := other.removeFinalizers(ctx, nil, expected.ofAll()); err != nil {
		return err
	}
	w.expected = other.ends()
	other.recoverControllers()
	if err := other.drain(ctx, nil); err != nil {
		return err
	}
	if _, err := other.removeFinalizers(ctx, nil, later.ofAll()); err != nil {
		return err
	}
	w.later = other.ends()
	s.attribution.withoutUs = w
	if !slices.ContainsFunc(theirs, s.mayBeUndeployed) {
		return nil
	}
	byHand := newSimulation(s.attribution.impactMap().Part(slices.Concat(s.attribution.requested(), theirs)...), s.seed, o, assumptions{byHand: true})
	if err := byHand.run(ctx); err != nil {
		return err
	}
	if err := byHand.runLaterFuture(ctx, byHand.judge.Outcomes()); err != nil {
		return err
	}
	w.oursByHand = map[object.Ref]bool{}
	for _, tr := range byHand.tracks.All() {
		gone := tr.Last == nil || tr.Last.BeingDeleted()
		w.oursByHand[tr.First.Ref] = gone && byHand.attribution.Follows(tr) && !byHand.attribution.endsSameWithoutUs(tr)
	}
	return nil
}

// mayBeUndeployed reports whether a deployer that is not known to run, and may yet, holds an object.
func (s *simulation) mayBeUndeployed(o *object.Object) bool {
	return slices.ContainsFunc(s.finalizerControllers.releasesOf(o), func(r report.Release) bool {
		return !hasRunningController(r) && s.deployerOf(o, r) != nil
	})
}

// ends maps each object that has changed to its state.
func (s *simulation) ends() map[object.Ref]*object.Object {
	ends := map[object.Ref]*object.Object{}
	for _, tr := range s.tracks.All() {
		if tr.Changed != 0 {
			ends[tr.First.Ref] = tr.Last
		}
	}
	return ends
}

// markAnyway sets Anyway on outcomes that our requests cause but that would have happened without
// them too. Which of the two comes first is unknown, and the end is the same.
func (c *attribution) markAnyway(all *outcome.Outcomes) {
	for _, out := range all.All() {
		if out.AlreadyHappening {
			out.Anyway = out.Anyway || c.caused(out.Track) || out.Result == report.Unknown && c.reaches(out.Track.First)
		} else {
			out.Anyway = out.Anyway || c.releasedAnyway(out)
		}
	}
}

// releasedAnyway reports whether an object that is no target changes only once finalizers are removed, and
// ends the same way without our requests.
func (c *attribution) releasedAnyway(out *outcome.Outcome) bool {
	tr := out.Track
	if out.Result == report.Unknown || tr.Target || tr.Changed == 0 || tr.Changed&outcome.AfterSeed != 0 {
		return false
	}
	return c.endsSameWithoutUs(tr)
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
