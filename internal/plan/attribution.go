package plan

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
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
	health *health.Assessment
	seed   Seed
	tracks *outcome.Tracks
	judge  *outcome.Judge
	// writes returns the requests that a collection has sent so far.
	writes func() []Write
	// cachedMap is the impact map of the snapshot before our first request. The collector that owns
	// its graph must not run any further.
	cachedMap *reach.Map
	// reached is the set of objects that deletes of our requested objects may touch.
	reached *reach.Set
	// withoutUs is what happens without our requests. nil until finalizers are removed, and if nothing was
	// being deleted before. See simulation.findWithoutUs.
	withoutUs *withoutUs
}

// caused reports whether a change to an object follows from our requests, or may follow from them.
// That includes changes that would have happened anyway, if our requests reach the object.
func (c *attribution) caused(tr *outcome.Track) bool {
	switch {
	case tr.Target, len(tr.FreedBy) > 0:
		return true
	case c.seed.Verb == Delete && c.Follows(tr):
		return true
	case tr.Changed == 0, tr.Awaited:
		return false
	default:
		return c.reaches(tr.First)
	}
}

// Follows reports whether an object changed after our requests and because of them. If it changed
// only when finalizers were removed from earlier deletions, our requests must reach it, and it must
// not end the same way without them. An awaited object follows if it goes with what our requests delete:
//
//	delete pod/p: pvc/data is being deleted, and waits for pod/p
func (c *attribution) Follows(tr *outcome.Track) bool {
	switch {
	case len(tr.FreedBy) > 0:
		return true
	case tr.Changed&(outcome.AfterSeed|outcome.AfterRelease|outcome.InLaterFuture) != 0:
		return true
	case tr.Awaited, tr.Changed&(outcome.AfterOthers|outcome.LaterOfOthers) == 0:
		return false
	default:
		return c.reaches(tr.First) && !c.endsSameWithoutUs(tr)
	}
}

// Besides reports whether an object was looked at only because of earlier deletions that are unrelated to our
// requests: its own, or one that goes on beside ours.
func (c *attribution) Besides(tr *outcome.Track) bool {
	return (tr.First.BeingDeleted() || tr.Decision.Phase&(outcome.AfterOthers|outcome.LaterOfOthers) != 0) && !c.reaches(tr.First)
}

// reaches reports whether deletes of our requested objects may touch an object.
func (c *attribution) reaches(o *object.Object) bool {
	if c.reached == nil {
		c.computeReached(c.impactMap())
	}
	return c.reached.Has(o)
}

// takesNamespaceOf reports whether our requests delete the namespace of an object. Then everything in it goes
// because of them, unless another deletion comes first.
//
//	delete ns/n: pod/held holds the rest of the content, and slice/s goes before that if svc/s, which is
//	             being deleted, goes first
func (c *attribution) takesNamespaceOf(o *object.Object) bool {
	space := c.snap.Find("v1", "Namespace", "", o.Namespace)
	if o.Namespace == "" || space == nil || space.BeingDeleted() {
		return false
	}
	tr := c.tracks.Known(space)
	return tr != nil && (tr.Last == nil || tr.Last.BeingDeleted()) && c.caused(tr)
}

// impactMap returns the impact map of the snapshot before our first request.
func (c *attribution) impactMap() *reach.Map {
	if c.cachedMap == nil {
		c.cachedMap = ReachMap(c.snap, Start(c.snap, engine.Upstream).Graph(), c.health)
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

// futureEnds is what a run has come to after a future.
type futureEnds struct {
	// changed maps each object that has changed to its state: nil if it is deleted.
	changed map[object.Ref]*object.Object
	// unknown has the objects with an unknown outcome.
	unknown map[object.Ref]bool
}

// withoutUs is what happens without our requests.
type withoutUs struct {
	expected, later futureEnds
	// targetIsGoing is true if a target was being deleted before. The ends have that deletion, too, and a
	// request for such a target asks what is still to come, so they say nothing about it.
	targetIsGoing bool
	// deletedIfReleased are the objects that are deleted because of our requests if deployers that are not
	// known to run are gone: all of them, or those of the earlier deletions. nil if there are no such deployers.
	//
	//	delete cm/a --cascade=orphan: cm/b loses a, and instance/op, which is being deleted, owns it, too
	//	kro runs:                     it deletes cm/b, whatever we do
	//	kro is gone:                  a person releases instance/op, and cm/b is garbage, but not without us
	deletedIfReleased map[object.Ref]bool
}

// endsSameWithoutUs reports whether an object ends the same way without our requests, in the same
// future.
func (c *attribution) endsSameWithoutUs(tr *outcome.Track) bool {
	if c.withoutUs == nil || c.withoutUs.targetIsGoing || c.withoutUs.deletedIfReleased[tr.First.Ref] {
		return false
	}
	ends := c.withoutUs.expected
	if tr.Changed&(outcome.InLaterFuture|outcome.LaterOfOthers) != 0 {
		ends = c.withoutUs.later
	}
	end, touched := ends.changed[tr.First.Ref]
	if !touched || end == nil {
		return touched
	}
	return tr.Last != nil && end.BeingDeleted() == tr.Last.BeingDeleted() && slices.Equal(end.Owners, tr.Last.Owners) &&
		slices.Equal(end.Finalizers(), tr.Last.Finalizers())
}

// findWithoutUs finds what happens without our requests.
func (s *simulation) findWithoutUs(ctx context.Context) (err error) {
	theirs := object.Filtered(s.options.simulatedObjects(s.snap), s.priorDeletions.beingDeleted)
	w := &withoutUs{targetIsGoing: slices.ContainsFunc(s.attribution.requested(), (*object.Object).BeingDeleted)}
	if w.expected, w.later, err = s.runWithoutUs(ctx, theirs); err != nil {
		return err
	}
	if slices.ContainsFunc(theirs, s.mayBeUndeployed) {
		w.deletedIfReleased = map[object.Ref]bool{}
		for _, gone := range []func(object.Ref) bool{anyObject, having(theirs)} {
			if err := s.runByHand(ctx, theirs, gone, w.deletedIfReleased); err != nil {
				return err
			}
		}
	}
	s.attribution.withoutUs = w
	return nil
}

// runWithoutUs runs the earlier deletions, and what follows from them, through both futures.
func (s *simulation) runWithoutUs(ctx context.Context, theirs []*object.Object) (expectedEnds, laterEnds futureEnds, err error) {
	other := newSimulation(s.attribution.impactMap().Part(theirs...), CollectSeed(), s.optionsWithoutRecord(), assumptions{byHand: s.assumed.byHand})
	if err := other.runUntilReleases(ctx); err != nil {
		return expectedEnds, laterEnds, err
	}
	for _, o := range theirs {
		other.tracks.Of(o) // what nothing touches has finalizers, too
	}
	if _, err := other.removeFinalizers(ctx, nil, expected.ofAll()); err != nil {
		return expectedEnds, laterEnds, err
	}
	expectedEnds = other.ends()
	other.recoverControllers()
	if err := other.drain(ctx, nil); err != nil {
		return expectedEnds, laterEnds, err
	}
	_, err = other.removeFinalizers(ctx, nil, later.ofAll())
	return expectedEnds, other.ends(), err
}

func anyObject(object.Ref) bool { return true }

// having returns whether an object is one of a list.
func having(list []*object.Object) func(object.Ref) bool {
	set := map[object.Ref]bool{}
	for _, o := range list {
		set[o.Ref] = true
	}
	return func(ref object.Ref) bool { return set[ref] }
}

// runByHand runs our requests as if the deployers of some objects were gone, unless these are known to run.
// It adds the objects that are deleted then because of our requests, or may be.
func (s *simulation) runByHand(ctx context.Context, theirs []*object.Object, gone func(object.Ref) bool, ours map[object.Ref]bool) error {
	part := s.attribution.impactMap().Part(slices.Concat(s.attribution.requested(), theirs)...)
	other := newSimulation(part, s.seed, s.optionsWithoutRecord(), assumptions{byHand: gone})
	if err := other.run(ctx); err != nil {
		return err
	}
	if err := other.runLaterFuture(ctx, other.judge.Outcomes()); err != nil {
		return err
	}
	for _, tr := range other.tracks.All() {
		if deleted := tr.Last == nil || tr.Last.BeingDeleted(); deleted && other.attribution.Follows(tr) && !other.attribution.endsSameWithoutUs(tr) {
			ours[tr.First.Ref] = true
		}
	}
	for _, out := range other.futures.last.All() {
		if out.Result == report.Unknown && other.attribution.reaches(out.Track.First) {
			ours[out.Track.First.Ref] = true
		}
	}
	return nil
}

// mayBeUndeployed reports whether a deployer that is not known to run, and may yet, holds an object.
func (s *simulation) mayBeUndeployed(o *object.Object) bool {
	return slices.ContainsFunc(s.finalizerControllers.releasesOf(o), func(r report.Release) bool {
		return !hasRunningController(r) && s.deployerOf(o, r) != nil
	})
}

// ends returns what the run has come to.
func (s *simulation) ends() futureEnds {
	ends := futureEnds{changed: map[object.Ref]*object.Object{}, unknown: map[object.Ref]bool{}}
	for _, tr := range s.tracks.All() {
		if tr.Changed != 0 {
			ends.changed[tr.First.Ref] = tr.Last
		}
	}
	for _, out := range s.judge.Outcomes().All() {
		if out.Result == report.Unknown {
			ends.unknown[out.Track.First.Ref] = true
		}
	}
	return ends
}

// markAnyway sets Anyway on outcomes that our requests cause but that would have happened without
// them too. Which of the two comes first is unknown, and the end is the same. The outcomes are those after
// the expected or the later future.
func (c *attribution) markAnyway(all *outcome.Outcomes, after future) {
	var unknown []*outcome.Outcome
	for _, out := range all.All() {
		switch {
		case out.Anyway:
		case out.AlreadyHappening:
			out.Anyway = c.caused(out.Track) || out.Result == report.Unknown && c.reaches(out.Track.First)
		case out.Result == report.Unknown:
			unknown = append(unknown, out)
		default:
			out.Anyway = c.releasedAnyway(out)
		}
	}
	if c.withoutUs == nil || c.withoutUs.targetIsGoing {
		return
	}
	ends := c.withoutUs.expected
	if after.firstPhase == outcome.InLaterFuture {
		ends = c.withoutUs.later
	}
	for n := -1; n != len(unknown); { // an object may be unknown because its owner is
		n = len(unknown)
		unknown = slices.DeleteFunc(unknown, func(out *outcome.Outcome) bool {
			out.Anyway = c.unknownAnyway(out, all, ends)
			return out.Anyway
		})
	}
}

// unknownAnyway reports whether an object with an unknown outcome goes, or may go, without our requests, too, and
// each of its owners ends the same way without them.
//
//	delete svc/a: pod/b, which was being deleted, owns cm/c, and so does an object that was not seen
func (c *attribution) unknownAnyway(out *outcome.Outcome, all *outcome.Outcomes, ends futureEnds) bool {
	o := out.Track.First
	end, changed := ends.changed[o.Ref]
	if mayGo := ends.unknown[o.Ref] || changed && end == nil; !mayGo || out.Track.Target || len(o.Owners) == 0 || c.takesNamespaceOf(o) || c.tracks.Deployer(o) != nil {
		return false
	}
	return !slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool {
		at := c.judge.Locate(ref, o.Namespace)
		tr := c.tracks.Meant(at)
		if tr != nil {
			at = tr.First.Ref // the reference may have another version or name
		}
		owner := c.judge.Of(all, at)
		unknown := owner != nil && owner.Result == report.Unknown
		switch _, changed := ends.changed[at]; {
		case unknown || ends.unknown[at]:
			return !unknown || !ends.unknown[at] || !owner.AlreadyHappening && !owner.Anyway
		case tr == nil || tr.Changed == 0:
			return changed
		default:
			return tr.Changed&outcome.AfterSeed != 0 || !c.endsSameWithoutUs(tr)
		}
	})
}

// releasedAnyway reports whether an object that is no target changes only once finalizers are removed, and
// ends the same way without our requests.
func (c *attribution) releasedAnyway(out *outcome.Outcome) bool {
	tr := out.Track
	if tr.Target || tr.Changed == 0 || tr.Changed&outcome.AfterSeed != 0 {
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
