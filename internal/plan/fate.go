package plan

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
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
	// anyway: it would have happened without the seed, too, and follows from it.
	anyway    bool
	contested bool
	// ends are the others that were found of a contested object.
	ends   []end
	detail string
	// open: something that is not in the snapshot may hold the object, too.
	open bool
	// late is who should long have gone on with it, where others may hold it as well;
	// lingering tells that it waits for something that such a one may yet delete.
	late      *standstill
	lingering bool
}

// fates are the fates of a run, by the keys of the tracks.
type fates map[types.UID]*fate

// fateIn is the fate of an object; nil if it has none.
func (s *simulation) fateIn(all fates, r object.Ref) *fate {
	if f := all[s.tracks.key(r)]; f != nil && f.track.first.Ref == r {
		return f
	}
	return nil
}

// fates judges every tracked object at quiescence.
func (s *simulation) fates() fates {
	all := make(fates, len(s.tracks.byUID))
	for key, tr := range s.tracks.byUID {
		if f := s.fateOf(tr); f != nil {
			all[key] = f
		}
	}
	s.doubtIdentities(all)
	if s.seed.Verb == Collect {
		s.addTerminating(all)
		s.addUndecided(all)
		s.addUnsure(all)
	}
	s.addLate(all)
	s.doubtDependents(all)
	s.spreadWaiting(all)
	s.doubtFollowers(all)
	s.addKeptByBlocked(all)
	s.addLeft(all)
	maps.DeleteFunc(all, func(_ types.UID, f *fate) bool { return s.elsewhere(f) })
	return all
}

// elsewhere tells whether an object is outside of where the collection was asked for,
// and neither garbage nor changed: that it is stuck, or not known, is not the question.
func (s *simulation) elsewhere(f *fate) bool {
	if f.outcome != report.Unknown && f.outcome != report.Blocked || f.track.changed != 0 {
		return false
	}
	return s.notAskedFor(f.track.first)
}

// notAskedFor tells whether the Keeper says so of an object.
func (s *simulation) notAskedFor(o *object.Object) bool {
	return s.options.Keep != nil && s.options.Keep(o, false) == NotAskedFor
}

// fateOf is nil for an object that nothing touched and whose prospects did not
// change.
func (s *simulation) fateOf(tr *track) *fate {
	f := &fate{track: tr, baseline: s.seed.Verb != Collect && !s.follows(tr) && !tr.target}
	switch {
	case tr.refused != nil && (tr.last == nil && !tr.changed.bySeed() || tr.last != nil && !tr.last.BeingDeleted()):
		s.refusedFate(f)
	case tr.last == nil:
		s.deletedFate(f)
	case tr.last.BeingDeleted():
		s.blockedFate(f)
	case tr.target && s.seed.Verb == RemoveFinalizer:
		s.takenFate(f)
	case tr.changed != 0:
		s.changedFate(f)
	case !tr.decision.phase.bySeed() || s.asBefore(tr) || s.lookedAtBesides(tr):
		return nil
	default:
		s.consideredFate(f)
	}
	switch f.outcome {
	case report.Blocked:
		if f.baseline && tr.changed == 0 && (!tr.decision.phase.bySeed() || s.asBefore(tr)) {
			return nil
		}
	case report.Unknown:
		if f.baseline && (tr.awaited || IsLate(Reason(f.reason))) && tr.changed == 0 {
			return nil
		}
		f.baseline = f.baseline && (tr.changed != 0 || s.lookedAtBesides(tr))
	case report.Kept:
		f.baseline = f.baseline && tr.changed != 0
		if s.unremarkable(tr) {
			return nil
		}
	default:
	}
	if tr.resumed && !tr.target {
		f.assumptions = append(f.assumptions, resumption)
	}
	if s.restsOnAbsence(f) {
		f.assumptions = append(f.assumptions, nowhere)
	}
	return f
}

// nowhere is what has to hold for an owner that is not where its dependent says to be
// absent under strict rules, which look for its uid everywhere. (engine.Strict rule 3)
const nowhere = "nothing that was not seen has the uid of an owner that was not found; collect keeps the dependents of such a one"

// restsOnAbsence tells whether strict rules might keep an object, or a reference of it,
// if more had been seen.
func (s *simulation) restsOnAbsence(f *fate) bool {
	if !s.partial || f.outcome != report.Deleted && f.outcome != report.Pruned {
		return false
	}
	absent := func(uid types.UID) bool { return s.tracks.byUID[uid] == nil }
	j := f.track.removal()
	return slices.ContainsFunc(s.owners(j, j.dangling), func(r object.Ref) bool { return absent(r.UID) }) ||
		slices.ContainsFunc(f.removed, func(r object.Ref) bool { return absent(r.UID) })
}

// resumption is what has to hold for a deletion that was under way when the
// snapshot was taken to go on as it does here. (Q20, Q26)
const resumption = "the collector takes up the deletions that were under way, as it does after a restart; one that has missed their start leaves them"

// asBefore tells whether an object was only looked at again, as attempts without
// end are after every change: nothing that its owners could decide has changed.
func (s *simulation) asBefore(tr *track) bool {
	if tr.target || tr.before != tr.decision.reason || tr.before == engine.NoReason {
		return false
	}
	return !slices.ContainsFunc(tr.first.Owners, func(o object.OwnerReference) bool {
		owner := s.tracks.byUID[o.UID]
		return s.tracks.shared[o.UID] || owner != nil && owner.changed.bySeed()
	})
}

// unremarkable tells whether an object that stays was looked at for no reason
// that a person would care about: it has no owners, or a collection that starts
// finds all of its owners where they should be.
func (s *simulation) unremarkable(tr *track) bool {
	if tr.target || tr.changed != 0 {
		return false
	}
	return tr.decision.reason == engine.NoOwners || s.seed.Verb != Delete && tr.decision.reason == engine.SolidOwner
}

// refusedFate is a target that the server does not delete, or does not find: it
// was garbage, and the collector was faster.
func (s *simulation) refusedFate(f *fate) {
	tr := f.track
	if tr.last == nil {
		f.outcome, f.reason, f.anyway = report.Deleted, string(Requested), true
		s.assume(f)
		return
	}
	f.outcome, f.reason, f.detail = report.Kept, string(RequestRefused), tr.refused.Error()
	if r, ok := s.neighbours.refused[tr.first.Ref]; ok && !r.Sure {
		f.doubt(WebhookUnknown)
	}
}

func (s *simulation) deletedFate(f *fate) {
	tr := f.track
	f.outcome = report.Deleted
	j := tr.removal()
	switch {
	case tr.target && s.seed.Verb == RemoveFinalizer:
		s.takenFate(f)
	case tr.target && tr.refused == nil:
		f.reason = string(Requested)
	case j.reason != engine.NoReason:
		f.reason = j.reason.String()
		f.because = s.owners(j, j.dangling, j.waiting)
	case tr.first.BeingDeleted():
		f.reason = tr.decision.reason.String()
		if tr.decision.reason == engine.NoReason || tr.decision.reason == engine.BeingDeleted {
			f.reason = engine.BeingDeleted.String()
		}
	case s.revokedFate(f):
	default:
		f.reason = string(DeletedByRest)
		f.because = s.containers(tr.first)
		if tr.reclaimed {
			f.reason, f.because = string(VolumeReclaimed), s.claimOf(tr.first)
		}
	}
	s.assume(f)
}

// assume says what has to hold for whoever let go of the object, and for whoever
// removed it, to have done so.
func (s *simulation) assume(f *fate) {
	for _, actor := range []word{f.track.releasedBy, f.track.removedBy} {
		text, ok := s.rest.assumption(s.recorder.text(actor))
		if ok {
			text = s.neighbours.rest(s.recorder.text(actor), text, f.track.first)
		}
		if text != "" && !slices.Contains(f.assumptions, text) {
			f.assumptions = append(f.assumptions, text)
		}
	}
	if f.track.reclaimed && !slices.Contains(f.assumptions, controllers.ReclaimAssumption) {
		f.assumptions = append(f.assumptions, controllers.ReclaimAssumption)
	}
}

// changedFate is an object that survives with other references.
func (s *simulation) changedFate(f *fate) {
	tr := f.track
	if released(tr) {
		s.releasedFate(f)
		return
	}
	j := tr.decision
	if j.undecided() && j.live != nil && slices.Equal(j.live.Owners, tr.last.Owners) {
		s.consideredFate(f)
		f.removed = s.removedReferences(tr)
		return
	}
	f.removed = s.removedReferences(tr)
	if tr.orphanedBy != nil && slices.ContainsFunc(f.removed, func(r object.Ref) bool { return r.UID == tr.orphanedBy.UID }) {
		f.outcome, f.reason = report.Orphaned, engine.OrphanDependents.String()
		f.because = []object.Ref{tr.orphanedBy.Ref}
		if s.mayBeAdopted(tr.last) {
			f.assumptions = append(f.assumptions, controllers.AdoptionAssumption)
		}
		return
	}
	f.outcome, f.reason = report.Pruned, engine.DanglingReferences.String()
	f.because = s.owners(j, j.solid)
	if len(f.removed) == 0 {
		f.outcome, f.reason = report.Kept, j.reason.String()
	}
}

// consideredFate is an object that the collector looked at and left as it was.
func (s *simulation) consideredFate(f *fate) {
	j := f.track.decision
	if why, ok := s.recorder.kept[f.track.first.Ref]; ok {
		f.outcome, f.reason, f.because = report.Kept, string(why), s.owners(j, j.dangling, j.waiting)
		if owner := s.recorder.lateOwner(f.track.first.Ref); owner != nil && IsLate(why) && s.mayYetGo(f.track.first.Ref) {
			f.doubt(why)
		}
		return
	}
	if s.refusedWrite(f) {
		return
	}
	f.outcome, f.reason = report.Kept, j.reason.String()
	f.because = s.owners(j, j.solid)
	if j.undecided() {
		f.outcome = report.Unknown
	}
	unresolved := j.unresolved()
	switch {
	case unresolved == nil:
	case f.outcome == report.Kept && !j.solid.Empty():
		f.assumptions = append(f.assumptions,
			"the reference to "+report.RefOf(unresolved.Ref).KubectlName()+", of which nothing is known, stays")
	default:
		f.because = []object.Ref{unresolved.Ref}
		if f.outcome == report.Unknown {
			f.detail = detailOf(j.err())
		}
	}
}

// owners are the references of a judged object that are in one of the sets.
func (s *simulation) owners(j judgement, sets ...engine.Positions) []object.Ref {
	if j.live == nil {
		return nil
	}
	var refs []object.Ref
	for i, ref := range j.live.Owners {
		if slices.ContainsFunc(sets, func(set engine.Positions) bool { return set.Has(i) }) {
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
