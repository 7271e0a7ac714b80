package plan

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// await finds what somebody else had deleted before our requests and is still there, and
// on which it depends how far these go: because something waits for it that follows from
// them, at any distance, or because they and it take something together, as the last two
// owners of an object. Such an object goes without us; what goes on when it does, goes
// because of us. It reports whether there is any.
func (s *simulation) await() bool {
	if !s.anyDeletedBefore() {
		return false
	}
	if !s.futures.met {
		s.futures.met = true
		s.futures.together = s.takersWithUs()
	}
	for _, ref := range s.futures.together {
		if o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
			s.awaits(s.tracks.of(o))
		}
	}
	var waiting []*fate
	for _, tr := range s.tracks.byUID {
		if tr.last != nil && tr.last.BeingDeleted() && s.caused(tr) {
			waiting = append(waiting, s.waitingOf(tr))
		}
	}
	for len(waiting) > 0 {
		f := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		for _, ref := range f.blocked.Dependents {
			o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
			if o == nil || !o.BeingDeleted() {
				continue
			}
			if tr := s.tracks.of(o); s.awaits(tr) {
				waiting = append(waiting, s.waitingOf(tr))
			}
		}
	}
	return s.futures.awaitsAny
}

// takersWithUs are what somebody else had deleted before, a finalizer holds, and may take
// something together with our requests: it is found by the ways back from all that these
// may touch.
func (s *simulation) takersWithUs() []object.Ref {
	held := map[*object.Object]bool{}
	for _, o := range s.snap.Objects {
		if o.BeingDeleted() && len(s.releasesOf(o)) > 0 {
			held[o] = true
		}
	}
	if len(held) == 0 {
		return nil
	}
	var touched []*object.Object
	for o := range s.paths().From(s.requested()...) {
		if !o.BeingDeleted() {
			touched = append(touched, o)
		}
	}
	var list []object.Ref
	for o := range s.paths().Into(touched...) {
		if held[o] {
			list = append(list, o.Ref)
		}
	}
	slices.SortFunc(list, object.Compare)
	return list
}

// goesWithoutUs tells whether an object goes when the finalizers come off what others had
// deleted before, although we ask for nothing.
func (s *simulation) goesWithoutUs(o *object.Object) bool {
	if s.futures.withoutUs == nil {
		s.futures.withoutUs = s.withoutUs()
	}
	return s.futures.withoutUs[s.tracks.key(o.Ref)]
}

func (s *simulation) withoutUs() map[types.UID]bool {
	var theirs []*object.Object
	for _, tr := range s.tracks.byUID {
		if tr.awaited {
			theirs = append(theirs, tr.first)
		}
	}
	gone := map[types.UID]bool{}
	other := newSimulation(s.paths().Part(theirs...), CollectSeed(), Options{Rules: s.options.Rules, NoSteps: true})
	other.recorder.silent = true
	// The only error is that of a context that ends. Then nothing is known to go.
	if err := other.atOnce(context.Background(), nil); err != nil {
		return gone
	}
	for _, o := range theirs {
		other.tracks.of(o).awaited = true
	}
	other.futures.deletedBefore, other.tracks.phase = new(false), laterOfOthers
	if _, err := other.release(context.Background(), nil, func(report.Release) bool { return true }, laterOfOthers); err != nil {
		return gone
	}
	for _, o := range other.snap.Objects {
		if tr := other.tracks.byUID[other.tracks.key(o.Ref)]; tr != nil && tr.last == nil {
			gone[s.tracks.key(o.Ref)] = true
		}
	}
	return gone
}

// knowsCauses takes over from the run of the whole snapshot what follows from what, and is
// the same in every run of a part of it.
func (s *simulation) knowsCauses(whole *simulation) {
	if s.seed.Verb == Collect || len(whole.tracks.shared) > 0 || !whole.futures.met {
		return
	}
	whole.reaches(whole.snap.Objects[0]) // it is worked out once
	s.cause, s.futures.met, s.futures.together = whole.cause, true, whole.futures.together
}

// awaits notes that it depends on an object how far our requests go, unless it follows
// from them itself. It reports whether that is new.
func (s *simulation) awaits(tr *track) bool {
	if tr.awaited || tr.last == nil || s.caused(tr) {
		return false
	}
	tr.awaited, s.futures.awaitsAny = true, true
	return true
}

// anyDeletedBefore tells whether the snapshot has an object that is being deleted.
func (s *simulation) anyDeletedBefore() bool {
	if s.futures.deletedBefore == nil {
		found := slices.ContainsFunc(s.snap.Objects, (*object.Object).BeingDeleted)
		s.futures.deletedBefore = &found
	}
	return *s.futures.deletedBefore
}

// waitingOf says what an object that is being deleted waits for, as things are.
func (s *simulation) waitingOf(tr *track) *fate {
	f := &fate{track: tr, baseline: true}
	s.blockedFate(f)
	if tr.awaited {
		if s.futures.waitsFor == nil {
			s.futures.waitsFor = map[types.UID][]report.Ref{}
		}
		s.futures.waitsFor[s.tracks.key(tr.first.Ref)] = f.blocked.Dependents
	}
	return f
}

// standing are the fates of what somebody else had deleted before and nothing has
// happened to up to now: no plan speaks of them unless something does later.
func (s *simulation) standing(all fates) fates {
	if !s.anyDeletedBefore() {
		return nil
	}
	list := fates{}
	for key, tr := range s.tracks.byUID {
		if all[key] == nil && tr.last != nil && tr.last.BeingDeleted() {
			list[key] = s.waitingOf(tr)
		}
	}
	return list
}
