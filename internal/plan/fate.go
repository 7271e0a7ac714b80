package plan

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// fate is what became of one object in one run: the outcome and the facts behind
// it.
type fate struct {
	track   *track
	outcome report.Outcome
	reason  string
	// because are the objects that decide.
	because []object.Ref
	blocked *report.BlockedBy
	// removed are the references that went.
	removed     []object.Ref
	assumptions []string
	baseline    bool
	contested   bool
	detail      string
}

// fates are the fates of a run by UID.
type fates map[types.UID]*fate

// fates judges every tracked object at quiescence.
func (s *simulation) fates() fates {
	all := make(fates, len(s.tracks.byUID))
	shared := s.sharedUIDs()
	for uid, tr := range s.tracks.byUID {
		if f := s.fateOf(tr); f != nil {
			if shared[uid] || s.refersToShared(tr, shared) {
				f.doubt(string(SharedUID))
			}
			all[uid] = f
		}
	}
	if s.seed.Verb == Collect {
		s.addTerminating(all)
		s.addUndecided(all)
	}
	s.spreadDoubt(all)
	s.addKeptByBlocked(all)
	return all
}

// doubt turns a fate into Unknown.
func (f *fate) doubt(reason string) { f.outcome, f.reason = report.Unknown, reason }

// fateOf is nil for an object that was merely looked at before the seed.
func (s *simulation) fateOf(tr *track) *fate {
	f := &fate{track: tr, baseline: s.seed.Verb != Collect && tr.changed&afterSeed == 0 && !tr.target}
	switch {
	case tr.refused != nil:
		s.refusedFate(f)
	case tr.last == nil:
		s.deletedFate(f)
	case tr.last.BeingDeleted():
		s.blockedFate(f)
	case tr.changed != 0:
		s.changedFate(f)
	case tr.decision.phase != afterSeed:
		return nil
	default:
		s.consideredFate(f)
	}
	if f.outcome == report.Blocked && f.baseline && tr.decision.phase != afterSeed && tr.changed == 0 {
		return nil
	}
	if f.outcome == report.Kept {
		f.baseline = false
		if s.unremarkable(tr) {
			return nil
		}
	}
	return f
}

// unremarkable tells whether an object that stays was looked at for no reason
// that a person would care about: it has no owners, or a collection that starts
// finds all of its owners where they should be.
func (s *simulation) unremarkable(tr *track) bool {
	if tr.target || tr.changed != 0 {
		return false
	}
	return tr.decision.reason == engine.NoOwners || s.seed.Verb == Collect && tr.decision.reason == engine.SolidOwner
}

func (s *simulation) refusedFate(f *fate) {
	tr := f.track
	f.outcome, f.reason, f.detail = report.Kept, string(RequestRefused), tr.refused.Error()
	if tr.last == nil {
		f.outcome, f.reason, f.detail, f.baseline = report.Deleted, string(AlreadyGone), "", true
	}
}

func (s *simulation) deletedFate(f *fate) {
	tr := f.track
	f.outcome = report.Deleted
	j := tr.removal()
	switch {
	case tr.target:
		f.reason = string(Requested)
	case j.reason != engine.NoReason:
		f.reason = j.reason.String()
		f.because = s.owners(j, j.dangling|j.waiting)
	case tr.first.BeingDeleted():
		f.reason = tr.decision.reason.String()
		if tr.decision.reason == engine.NoReason || tr.decision.reason == engine.BeingDeleted {
			f.reason = engine.BeingDeleted.String()
		}
	default:
		f.reason = string(DeletedByRest)
	}
	if text, ok := s.rest.assumption(s.recorder.text(tr.removedBy)); ok {
		f.assumptions = append(f.assumptions, text)
	}
}

// changedFate is an object that survives with other references.
func (s *simulation) changedFate(f *fate) {
	tr := f.track
	f.removed = s.removedReferences(tr)
	j := tr.decision
	if tr.orphanedBy != nil && slices.ContainsFunc(f.removed, func(r object.Ref) bool { return r.UID == tr.orphanedBy.UID }) {
		f.outcome, f.reason = report.Orphaned, engine.OrphanDependents.String()
		f.because = []object.Ref{tr.orphanedBy.Ref}
		return
	}
	f.outcome, f.reason = report.Pruned, engine.DanglingReferences.String()
	f.because = s.owners(j, j.solid)
	if len(f.removed) == 0 {
		f.outcome, f.reason = report.Kept, j.reason.String()
	}
}

func (s *simulation) consideredFate(f *fate) {
	j := f.track.decision
	f.outcome, f.reason = report.Kept, j.reason.String()
	f.because = s.owners(j, j.solid)
	switch j.reason {
	case engine.OwnerNotCovered, engine.ObjectNotCovered, engine.UnknownOwnerKind:
		f.outcome = report.Unknown
	default:
	}
	if unresolved := j.unresolved(); unresolved != nil {
		f.because = []object.Ref{unresolved.Ref}
		if err := j.err(); err != nil {
			f.detail = err.Error()
		}
		if f.outcome == report.Kept && j.solid != 0 {
			f.because = s.owners(j, j.solid)
			f.assumptions = append(f.assumptions, "the reference to "+unresolved.Ref.String()+", which the snapshot does not cover, stays")
		}
	}
}

// owners are the references of a judged object that the mask selects.
func (s *simulation) owners(j judgement, mask uint64) []object.Ref {
	if mask == 0 || j.live == nil {
		return nil
	}
	var refs []object.Ref
	for i, ref := range j.live.Owners {
		if i < 64 && mask&(1<<i) != 0 {
			refs = append(refs, s.locate(ref, j.live.Namespace))
		}
	}
	return refs
}

// locate is the identity that a reference names, without a namespace when its
// kind is cluster-scoped.
func (s *simulation) locate(ref object.OwnerReference, namespace string) object.Ref {
	at := ref.In(namespace)
	if r, err := s.recorder.Resource(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
		at.Namespace = ""
	}
	return at
}

func (s *simulation) removedReferences(tr *track) []object.Ref {
	var refs []object.Ref
	for _, ref := range tr.first.Owners {
		if !tr.last.RefersTo(ref.UID) {
			refs = append(refs, s.locate(ref, tr.first.Namespace))
		}
	}
	return refs
}

// addTerminating puts every object that is being deleted into the plan of a
// collection, also those that nothing concerned.
func (s *simulation) addTerminating(all fates) {
	for _, o := range s.after() {
		if o.BeingDeleted() && all[o.UID] == nil {
			tr := s.tracks.of(o)
			f := &fate{track: tr}
			s.blockedFate(f)
			all[o.UID] = f
		}
	}
}

// addUndecided puts the dependents of owners that cannot be looked up into the
// plan of a collection: they may be garbage. The collector itself only retries
// the owner.
func (s *simulation) addUndecided(all fates) {
	g := s.collector.Graph()
	for _, ref := range s.collector.Deferred(engine.DeleteWork) {
		id, ok := g.Find(ref.UID)
		if !ok || !g.Virtual(id) {
			continue
		}
		g.EachDependent(id, func(d graph.ID) bool {
			o := g.Object(d)
			if all[o.UID] == nil && !o.BeingDeleted() {
				if f := s.undecided(o); f != nil {
					all[o.UID] = f
				}
			}
			return true
		})
	}
}

// undecided asks the engine about an object that it was not going to look at;
// nil if it can be decided after all.
func (s *simulation) undecided(o *object.Object) *fate {
	a, _ := s.collector.Inspect(o.UID)
	d := s.collector.Decide(engine.Lookup(context.Background(), s.recorder.server, s.options.Rules, a))
	f := &fate{track: &track{first: o, last: o, decision: judgementOf(d, afterSeed)}}
	if s.consideredFate(f); f.outcome != report.Unknown {
		return nil
	}
	return f
}

// addKeptByBlocked lists the dependents of what the seed leaves blocked: they
// live exactly as long as it does.
func (s *simulation) addKeptByBlocked(all fates) {
	g := s.collector.Graph()
	var blocked []*fate
	for _, f := range all {
		if f.outcome == report.Blocked && !f.baseline && s.seed.Verb != Collect {
			blocked = append(blocked, f)
		}
	}
	slices.SortFunc(blocked, func(a, b *fate) int { return object.Compare(a.track.first.Ref, b.track.first.Ref) })
	for _, f := range blocked {
		id, ok := g.Find(f.track.first.UID)
		if !ok {
			continue
		}
		g.EachDependent(id, func(d graph.ID) bool {
			o := g.Object(d)
			if all[o.UID] == nil && !o.BeingDeleted() {
				all[o.UID] = &fate{
					track: &track{first: o, last: o}, outcome: report.Kept,
					reason: engine.SolidOwner.String(), because: []object.Ref{f.track.first.Ref},
				}
			}
			return true
		})
	}
}

// sharedUIDs are the UIDs that several objects of the snapshot claim.
func (s *simulation) sharedUIDs() map[types.UID]bool {
	shared := map[types.UID]bool{}
	for _, p := range s.snap.Problems {
		if p.Kind == snapshot.DuplicateUID {
			shared[p.Object.UID] = true
		}
	}
	return shared
}

func (s *simulation) refersToShared(tr *track, shared map[types.UID]bool) bool {
	if len(shared) == 0 || tr.target {
		return false
	}
	return slices.ContainsFunc(tr.first.Owners, func(o object.OwnerReference) bool { return shared[o.UID] })
}
