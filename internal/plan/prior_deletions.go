package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// priorDeletions finds unfinished deletions, by other actors or as garbage, that began before our
// requests and decide how far these go. Their objects are awaited (Track.Awaited). They are deleted
// without us, but our requests cause what happens once they are gone. There are two cases:
//
//   - Something that our requests delete waits for the object, at any distance.
//   - Both delete something together. We delete a, b is already being deleted but held by a finalizer,
//     and both own c. c is deleted only once b is gone too, so that b is awaited.
type priorDeletions struct {
	snap        *snapshot.Snapshot
	tracks      *outcome.Tracks
	judge       *outcome.Judge
	attribution *attribution
	controllers *finalizerControllers
	// anyAwaited is true if there are such objects.
	anyAwaited bool
	// waitsFor contains the objects that each awaited object waits for itself.
	waitsFor map[outcome.Key][]object.Ref
	// deletedBefore is true if an object was being deleted before our requests. It is computed on
	// first use.
	deletedBefore *bool
	// jointDeletions lists the earlier deletions that may take an object together with our
	// requests. jointSearched is true once they have been searched for.
	jointDeletions []object.Ref
	jointSearched  bool
}

// markAwaited marks the objects that are awaited in the current state. It reports whether there are
// any.
func (a *priorDeletions) markAwaited() bool {
	if !a.anyDeletedBefore() {
		return false
	}
	if !a.jointSearched {
		a.jointSearched, a.jointDeletions = true, a.findJointDeletions()
	}
	for _, ref := range a.jointDeletions {
		if o := a.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
			a.mark(a.tracks.Of(o))
		}
	}
	var waiting []*outcome.Outcome
	for _, tr := range a.tracks.All() {
		if tr.Last != nil && tr.Last.BeingDeleted() && a.attribution.caused(tr) {
			waiting = append(waiting, a.judge.Waiting(tr))
		}
	}
	for len(waiting) > 0 {
		out := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		for _, ref := range out.Blocked.Dependents {
			o := a.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
			if o == nil || !a.beingDeleted(o) {
				continue
			}
			if tr := a.tracks.Of(o); a.mark(tr) {
				next := a.judge.Waiting(tr)
				a.recordWaits(next)
				waiting = append(waiting, next)
			}
		}
	}
	return a.anyAwaited
}

// mark marks an object as awaited, unless it follows from our requests itself. It reports whether
// the mark is new.
func (a *priorDeletions) mark(tr *outcome.Track) bool {
	if tr.Awaited || tr.Last == nil || a.attribution.caused(tr) {
		return false
	}
	tr.Awaited, a.anyAwaited = true, true
	return true
}

// recordWaits stores the objects that an awaited object waits for.
func (a *priorDeletions) recordWaits(out *outcome.Outcome) {
	if a.waitsFor == nil {
		a.waitsFor = map[outcome.Key][]object.Ref{}
	}
	a.waitsFor[a.tracks.Key(out.Track.First)] = out.Blocked.Dependents
}

// findJointDeletions returns the objects that were deleted before our requests, that a finalizer
// holds, and that may take an object together with our requests. It follows paths backwards from
// all objects that our requests may touch.
func (a *priorDeletions) findJointDeletions() []object.Ref {
	held := map[*object.Object]bool{}
	for _, o := range a.snap.Objects {
		if a.beingDeleted(o) && slices.ContainsFunc(a.controllers.releasesOf(o), takesTogether) {
			held[o] = true
		}
	}
	if len(held) == 0 {
		return nil
	}
	paths := a.attribution.impactMap()
	var touched []*object.Object
	for o := range paths.ReachableFrom(a.attribution.requested()...).All() {
		if !a.beingDeleted(o) {
			touched = append(touched, o)
		}
	}
	var list []object.Ref
	for o := range paths.Reaching(touched...).All() {
		if held[o] {
			list = append(list, o.Ref)
		}
	}
	slices.SortFunc(list, object.Compare)
	return list
}

// takesTogether reports whether the end of a finalizer may be what is missing for the deletion of an
// object that our requests may touch, too. A deployer that runs deletes what it has applied whatever we
// do.
func takesTogether(r report.Release) bool {
	return finalizer.DeployerOf(r.Object, r.Finalizer) == nil || !hasRunningController(r)
}

// anyDeletedBefore reports whether an object of the snapshot was being deleted before our requests,
// or was deleted as garbage since.
func (a *priorDeletions) anyDeletedBefore() bool {
	if a.deletedBefore == nil {
		found := slices.ContainsFunc(a.snap.Objects, a.beingDeleted)
		a.deletedBefore = &found
	}
	return *a.deletedBefore
}

// beingDeleted reports whether an object of the snapshot is being deleted, or has been since then
// without our requests, as garbage.
func (a *priorDeletions) beingDeleted(o *object.Object) bool {
	if o.BeingDeleted() {
		return true
	}
	tr := a.tracks.Known(o)
	return tr != nil && tr.Changed&outcome.InBaseline != 0 && tr.Last != nil && tr.Last.BeingDeleted()
}

// untouchedOutcomes returns the outcomes of earlier deletions that nothing has changed so far. They
// appear in a plan only if something happens to them later.
func (a *priorDeletions) untouchedOutcomes(all *outcome.Outcomes) *outcome.Outcomes {
	if !a.anyDeletedBefore() {
		return nil
	}
	list := &outcome.Outcomes{}
	for _, o := range a.snap.Objects {
		if key := a.tracks.Key(o); o.BeingDeleted() && a.tracks.At(key) == nil && all.At(key) == nil {
			list.Set(key, a.judge.Waiting(&outcome.Track{First: o, Last: o}))
		}
	}
	for key, tr := range a.tracks.All() {
		if all.At(key) == nil && tr.Last != nil && tr.Last.BeingDeleted() {
			out := a.judge.Waiting(tr)
			list.Set(key, out)
			if tr.Awaited {
				a.recordWaits(out)
			}
		}
	}
	a.judge.Doubt(list, all)
	return list
}

// reuseAttribution copies the attribution of the run of the whole snapshot, which is the same in
// every run of a part of it.
func (s *simulation) reuseAttribution(whole *simulation) {
	if s.seed.Verb == Collect || len(whole.tracks.Shared) > 0 || !whole.priorDeletions.jointSearched {
		return
	}
	whole.attribution.reaches(whole.snap.Objects[0]) // computes attribution.reached
	s.attribution.cachedMap, s.attribution.reached = whole.attribution.cachedMap, whole.attribution.reached
	s.attribution.withoutUs = whole.attribution.withoutUs
	s.priorDeletions.jointSearched, s.priorDeletions.jointDeletions = true, whole.priorDeletions.jointDeletions
}
