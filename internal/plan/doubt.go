package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// doubt turns a fate into Unknown.
func (f *fate) doubt(reason Reason) { f.outcome, f.reason = report.Unknown, string(reason) }

// doubtIdentities turns the fates of objects into Unknown that may belong to
// another owner than the run has taken for it: because several objects have the
// owner's uid, or because the owner's uid is not in the snapshot.
func (s *simulation) doubtIdentities(all fates) {
	shared, nameless := s.tracks.shared, s.hasNameless()
	if len(shared) == 0 && !nameless {
		return
	}
	for _, f := range all {
		tr := f.track
		refersTo := func(doubtful func(object.OwnerReference) bool) bool {
			return !tr.target && slices.ContainsFunc(tr.first.Owners, doubtful)
		}
		switch {
		case shared[tr.first.UID] || refersTo(func(o object.OwnerReference) bool { return shared[o.UID] }):
			f.doubt(SharedUID)
		case f.outcome != report.Kept && nameless && refersTo(func(o object.OwnerReference) bool { return s.nameless(o, tr.first.Namespace) }):
			f.doubt(MissingUID)
		}
	}
}

// sharedUIDs are the UIDs that several objects of a snapshot claim.
func sharedUIDs(snap *snapshot.Snapshot) map[types.UID]bool {
	shared := map[types.UID]bool{}
	for _, p := range snap.Problems {
		if p.Kind == snapshot.DuplicateUID {
			shared[p.Object.UID] = true
		}
	}
	return shared
}

func (s *simulation) hasNameless() bool {
	return slices.ContainsFunc(s.snap.Problems, func(p snapshot.Problem) bool { return p.Kind == snapshot.NoUID })
}

// nameless tells whether the object that stands under the name of a reference has
// no uid in the snapshot.
func (s *simulation) nameless(ref object.OwnerReference, namespace string) bool {
	r, err := s.recorder.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return false
	}
	if preferred, ok := s.snap.Resources.Preferred(r.GroupResource()); ok {
		r = preferred
	}
	if !r.Namespaced {
		namespace = ""
	}
	o := s.snap.Find(r.APIVersion(), r.Kind, namespace, ref.Name)
	return o != nil && madeUp(o.UID)
}

// doubtDependents follows Unknown down the owner references: who is kept by an
// object that may go may go as well, and who goes with an object that may stay may
// stay.
func (s *simulation) doubtDependents(all fates) {
	var open []*fate
	for _, f := range all {
		if f.outcome == report.Unknown {
			open = append(open, f)
		}
	}
	s.doubtFrom(all, open)
}

// doubtFrom follows Unknown down from these.
func (s *simulation) doubtFrom(all fates, open []*fate) {
	if len(open) == 0 {
		return
	}
	takers := all.takers(open)
	var kept []*fate
	for len(open) > 0 {
		f := open[len(open)-1]
		open = open[:len(open)-1]
		for _, d := range takers[f.track.first.UID] {
			if d.outcome == report.Deleted && !d.track.target {
				d.doubt(OwnerUnknown)
				open = append(open, d)
			}
		}
		if o := f.track.last; o != nil && !o.BeingDeleted() {
			doubted := s.doubtKept(all, o)
			open, kept = append(open, doubted...), append(kept, doubted...)
		}
	}
	s.blameOwners(all, kept)
}

// blameOwners names the owners because of which nothing is known. What rests on
// an owner that the seed put in doubt is the seed's doing as well; all else would
// be unknown without it.
func (s *simulation) blameOwners(all fates, kept []*fate) {
	g := s.collector.Graph()
	doubted := make(map[*fate]bool, len(kept))
	for _, f := range kept {
		f.because, doubted[f] = nil, true
	}
	dependents := map[*fate][]*fate{}
	var caused []*fate
	for _, f := range kept {
		for _, ref := range f.track.last.Owners {
			id, ok := g.Find(ref.UID)
			if !ok {
				continue
			}
			owner := s.fateIn(all, g.Identity(id))
			if owner == nil || owner.outcome != report.Unknown {
				continue
			}
			f.because = append(f.because, owner.track.first.Ref)
			dependents[owner] = append(dependents[owner], f)
			if !owner.baseline && !doubted[owner] {
				caused = append(caused, owner)
			}
		}
	}
	bySeed := flood(caused, dependents)
	for _, f := range kept {
		f.baseline = s.seed.Verb != Collect && !bySeed[f]
	}
}

// takers lists who was deleted because of owners, or after it had lost a reference to
// them, by the uid of the owner; empty unless it is in doubt who is whose owner.
func (all fates) takers(open []*fate) map[types.UID][]*fate {
	if !slices.ContainsFunc(open, func(f *fate) bool { return f.reason == string(SharedUID) || f.reason == string(MissingUID) }) {
		return nil
	}
	byOwner := map[types.UID][]*fate{}
	for _, f := range all {
		if f.outcome != report.Deleted {
			continue
		}
		for _, owner := range f.because {
			byOwner[owner.UID] = append(byOwner[owner.UID], f)
		}
		// A reference that was dropped before would have kept it.
		judged := f.track.removal().live
		for _, ref := range f.track.first.Owners {
			if judged != nil && !judged.RefersTo(ref.UID) {
				byOwner[ref.UID] = append(byOwner[ref.UID], f)
			}
		}
	}
	return byOwner
}

// doubtKept turns the dependents of an object that may go into Unknown, unless
// another owner keeps them for certain.
func (s *simulation) doubtKept(all fates, owner *object.Object) []*fate {
	g := s.collector.Graph()
	id, ok := g.Find(owner.UID)
	if !ok || g.Virtual(id) || g.Identity(id) != owner.Ref {
		return nil
	}
	var doubted []*fate
	g.EachDependent(id, func(d graph.ID) bool {
		o := g.Object(d)
		f := s.fateIn(all, o.Ref)
		if o.BeingDeleted() || f != nil && f.outcome != report.Kept && f.outcome != report.Pruned || s.keptForCertain(all, o) {
			return true
		}
		if f == nil {
			f = s.keptBy(o, owner.Ref)
			all[s.tracks.key(o.Ref)] = f
		}
		f.doubt(OwnerUnknown)
		doubted = append(doubted, f)
		return true
	})
	return doubted
}

// keptForCertain tells whether an owner of the object exists that does not wait
// for its dependents and of which it is not unknown whether it stays.
func (s *simulation) keptForCertain(all fates, o *object.Object) bool {
	g := s.collector.Graph()
	return slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool {
		id, ok := g.Find(ref.UID)
		if !ok || g.Virtual(id) || g.WaitingForDependents(id) {
			return false
		}
		owner := g.Identity(id)
		if owner.Name != ref.Name || !strings.EqualFold(owner.Kind, ref.Kind) || owner.Namespace != "" && owner.Namespace != o.Namespace {
			return false
		}
		f := s.fateIn(all, owner)
		return f == nil || f.outcome != report.Unknown
	})
}
