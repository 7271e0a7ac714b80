package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// awaited is what was deleted before our requests, by somebody else or as garbage, and is
// still there, and
// on which it depends how far these go: because something waits for it that follows from
// them, at any distance, or because they and it take something together, as the last two
// owners of an object. Such an object goes without us; what goes on when it does, goes
// because of us. That an object is awaited is noted in its track.
type awaited struct {
	snap       *snapshot.Snapshot
	tracks     *outcome.Tracks
	judge      *outcome.Judge
	cause      *cause
	finalizers *finalizers
	// any: there are such objects.
	any bool
	// waitsFor is what they wait for themselves, by the keys of the tracks.
	waitsFor map[outcome.Key][]report.Ref
	// deletedBefore: there is an object that is being deleted before our requests; nil until
	// somebody asks, which nobody does earlier.
	deletedBefore *bool
	// together are those that may take something together with our requests; met: they
	// have been looked for.
	together []object.Ref
	met      bool
}

// find finds the awaited objects as things are. It reports whether there are any.
func (a *awaited) find() bool {
	if !a.anyDeletedBefore() {
		return false
	}
	if !a.met {
		a.met, a.together = true, a.takersWithUs()
	}
	for _, ref := range a.together {
		if o := a.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
			a.add(a.tracks.Of(o))
		}
	}
	var waiting []*outcome.Outcome
	for _, tr := range a.tracks.All() {
		if tr.Last != nil && tr.Last.BeingDeleted() && a.cause.caused(tr) {
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
			if tr := a.tracks.Of(o); a.add(tr) {
				next := a.judge.Waiting(tr)
				a.note(next)
				waiting = append(waiting, next)
			}
		}
	}
	return a.any
}

// add notes that it depends on an object how far our requests go, unless it follows
// from them itself. It reports whether that is new.
func (a *awaited) add(tr *outcome.Track) bool {
	if tr.Awaited || tr.Last == nil || a.cause.caused(tr) {
		return false
	}
	tr.Awaited, a.any = true, true
	return true
}

// note keeps what an awaited object waits for itself.
func (a *awaited) note(out *outcome.Outcome) {
	if a.waitsFor == nil {
		a.waitsFor = map[outcome.Key][]report.Ref{}
	}
	a.waitsFor[a.tracks.Key(out.Track.First)] = out.Blocked.Dependents
}

// takersWithUs are what somebody else had deleted before, a finalizer holds, and may take
// something together with our requests: it is found by the ways back from all that these
// may touch.
func (a *awaited) takersWithUs() []object.Ref {
	held := map[*object.Object]bool{}
	for _, o := range a.snap.Objects {
		if a.beingDeleted(o) && len(a.finalizers.of(o)) > 0 {
			held[o] = true
		}
	}
	if len(held) == 0 {
		return nil
	}
	paths := a.cause.paths()
	var touched []*object.Object
	for o := range paths.From(a.cause.requested()...).All() {
		if !a.beingDeleted(o) {
			touched = append(touched, o)
		}
	}
	var list []object.Ref
	for o := range paths.Into(touched...).All() {
		if held[o] {
			list = append(list, o.Ref)
		}
	}
	slices.SortFunc(list, object.Compare)
	return list
}

// anyDeletedBefore reports whether the snapshot has an object that is being deleted, or
// garbage that is since then.
func (a *awaited) anyDeletedBefore() bool {
	if a.deletedBefore == nil {
		found := slices.ContainsFunc(a.snap.Objects, a.beingDeleted)
		a.deletedBefore = &found
	}
	return *a.deletedBefore
}

// beingDeleted reports whether an object of the snapshot is being deleted, or has been
// since then without our requests: as garbage.
func (a *awaited) beingDeleted(o *object.Object) bool {
	if o.BeingDeleted() {
		return true
	}
	tr := a.tracks.Known(o)
	return tr != nil && tr.Changed&outcome.InBaseline != 0 && tr.Last != nil && tr.Last.BeingDeleted()
}

// untouched are the outcomes of what somebody else had deleted before and nothing has
// happened to up to now: no plan speaks of them unless something does later.
func (a *awaited) untouched(all *outcome.Outcomes) *outcome.Outcomes {
	if !a.anyDeletedBefore() {
		return nil
	}
	list := &outcome.Outcomes{}
	for key, tr := range a.tracks.All() {
		if all.At(key) == nil && tr.Last != nil && tr.Last.BeingDeleted() {
			out := a.judge.Waiting(tr)
			list.Set(key, out)
			if tr.Awaited {
				a.note(out)
			}
		}
	}
	if len(a.tracks.Shared) > 0 { // of several with one uid the run has looked at one
		for _, o := range a.snap.Objects {
			if key := a.tracks.Key(o); o.BeingDeleted() && a.tracks.Shared[o.UID] && a.tracks.At(key) == nil && all.At(key) == nil {
				list.Set(key, &outcome.Outcome{Track: &outcome.Track{First: o, Last: o}})
			}
		}
	}
	a.judge.Doubt(list, all)
	return list
}

// knowsCauses takes over from the run of the whole snapshot what follows from what, and is
// the same in every run of a part of it.
func (s *simulation) knowsCauses(whole *simulation) {
	if s.seed.Verb == Collect || len(whole.tracks.Shared) > 0 || !whole.awaited.met {
		return
	}
	whole.cause.reaches(whole.snap.Objects[0]) // it is worked out once
	s.cause.ways, s.cause.from = whole.cause.ways, whole.cause.from
	s.awaited.met, s.awaited.together = true, whole.awaited.together
}
