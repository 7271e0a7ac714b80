package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// await finds what somebody else had deleted before our requests and is still there, and
// for which something waits that follows from them, at any distance. Such an object goes
// without us; what waits for it goes on because of us when it does.
func (s *simulation) await() {
	if !s.anyDeletedBefore() {
		return
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
			tr := s.tracks.of(o)
			if tr.awaited || tr.last == nil || s.caused(tr) {
				continue
			}
			tr.awaited = true
			waiting = append(waiting, s.waitingOf(tr))
		}
	}
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
		if s.futures.awaits == nil {
			s.futures.awaits = map[types.UID][]report.Ref{}
		}
		s.futures.awaits[s.tracks.key(tr.first.Ref)] = f.blocked.Dependents
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
