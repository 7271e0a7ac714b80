package outcome

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addTracked judges every tracked object by itself.
func (j *Judge) addTracked(all *Outcomes) {
	for key, tr := range j.Tracks.All() {
		if out := j.judgeTracked(tr); out != nil {
			all.Set(key, out)
		}
	}
}

// leaveOutElsewhere removes the outcomes outside of the requested scope.
func (j *Judge) leaveOutElsewhere(all *Outcomes) {
	all.RemoveIf(j.elsewhere)
}

// elsewhere reports whether an object outside of the collected scope is stuck or unknown, and
// unchanged.
func (j *Judge) elsewhere(out *Outcome) bool {
	if out.Result != report.Unknown && out.Result != report.Blocked || out.Track.Changed != 0 {
		return false
	}
	return j.NotAskedFor(out.Track.First)
}

// judgeTracked returns the outcome of a tracked object; nil if nothing happened to it that a plan
// has to show.
func (j *Judge) judgeTracked(tr *Track) *Outcome {
	out := &Outcome{Track: tr, AlreadyHappening: !j.Collects && !j.Causes.Follows(tr) && !tr.Target}
	if !j.decide(trackedRules, out) {
		return nil
	}
	switch out.Result {
	case report.Blocked:
		if out.AlreadyHappening && tr.Changed == 0 && (!tr.Decision.Phase.bySeed() || j.asBefore(tr)) {
			return nil
		}
	case report.Unknown:
		if out.AlreadyHappening && tr.Changed == 0 && (tr.Awaited || reason.Code(out.Reason).Overdue() || j.openAsBefore(out)) {
			return nil
		}
		out.AlreadyHappening = out.AlreadyHappening && (tr.Changed != 0 || j.Causes.Besides(tr))
	case report.Kept:
		out.AlreadyHappening = out.AlreadyHappening && tr.Changed != 0
		if j.unremarkable(tr) {
			return nil
		}
	default:
	}
	if tr.resumed && !tr.Target {
		out.Assumptions = append(out.Assumptions, resumption)
	}
	if j.restsOnAbsence(out) {
		out.Assumptions = append(out.Assumptions, Nowhere)
	}
	return out
}

// openAsBefore reports whether an object that was being deleted in the snapshot waits for content or
// dependents that were not seen. Our requests cannot change that.
func (j *Judge) openAsBefore(out *Outcome) bool {
	switch reason.Code(out.Reason) {
	case reason.ContentNotCovered, reason.DependentsNotCovered:
		return out.Track.First.BeingDeleted()
	default:
		return false
	}
}

// Nowhere is the assumption under strict rules that an owner is absent if it is not where its
// dependent refers to. These rules look for its uid everywhere. (engine.Strict rule 3)
const Nowhere = "nothing that was not seen has the uid of an owner that was not found; collect keeps the dependents of such a one"

// restsOnAbsence reports whether a deletion, or the removal of a reference, rests on an owner that
// strict rules might find if the snapshot were complete.
func (j *Judge) restsOnAbsence(out *Outcome) bool {
	if !j.Partial || out.Result != report.Deleted && out.Result != report.Pruned {
		return false
	}
	absent := func(uid types.UID) bool { return j.Tracks.ByUID(uid) == nil }
	d := out.Track.removal()
	return slices.ContainsFunc(j.owners(d, d.dangling), func(r object.Ref) bool { return absent(r.UID) }) ||
		slices.ContainsFunc(out.Removed, func(r object.Ref) bool { return absent(r.UID) })
}

// resumption is the assumption that the collector continues a deletion that had started before the
// snapshot. (Q20, Q26)
const resumption = "the garbage collector takes up the deletions that were under way, as it does after a restart; one that has missed their start leaves them"

// asBefore reports whether the collector came to the same decision about an object as before the
// requests, and none of its owners has changed. Retries reconsider objects after every change.
func (j *Judge) asBefore(tr *Track) bool {
	first := tr.before == "" && tr.Decision.Reason == reason.ExistingOwner // an earlier attempt, had there been one, would have ended the same way
	if tr.Target || !first && (tr.before != tr.Decision.Reason || tr.before == "") {
		return false
	}
	return !slices.ContainsFunc(tr.First.Owners, func(o object.OwnerReference) bool {
		owner := j.Tracks.ByUID(o.UID)
		return j.Tracks.Shared[o.UID] || owner != nil && owner.Changed.bySeed()
	})
}

// unremarkable reports whether an object that stays was considered for no reason worth reporting: it
// has no owners, or a collection finds that all of its owners exist.
func (j *Judge) unremarkable(tr *Track) bool {
	if tr.Target || tr.Changed != 0 {
		return false
	}
	return tr.Decision.Reason == reason.NoOwners || (j.Collects || j.Takes) && tr.Decision.Reason == reason.ExistingOwner
}

// judgeRefused handles a target that the server does not delete.
func (j *Judge) judgeRefused(out *Outcome) {
	out.Result, out.Reason, out.Detail = report.Kept, string(reason.RequestRefused), out.Track.Refused.Error()
	if r, ok := j.Health.Refused[out.Track.First.Ref]; ok && !r.Sure {
		out.Detail = r.Text()
		out.MarkUnknown(RefusedReason(r))
	}
}

// judgeDeleted handles an object that is gone.
func (j *Judge) judgeDeleted(out *Outcome) {
	out.Result = report.Deleted
	j.decide(deletedRules, out)
	j.assume(out, out.Track.releasedBy, out.Track.RemovedBy)
}

// assume adds the assumptions behind what controllers did with an object: that they run.
func (j *Judge) assume(out *Outcome, actors ...Word) {
	for _, actor := range actors {
		text, ok := j.assumption(j.Words.Text(actor))
		if ok {
			text = j.Health.unseen(j.Words.Text(actor), text, out.Track.First)
		}
		if text != "" && !slices.Contains(out.Assumptions, text) {
			out.Assumptions = append(out.Assumptions, text)
		}
	}
	if out.Track.reclaimed && !slices.Contains(out.Assumptions, controllers.ReclaimAssumption) {
		out.Assumptions = append(out.Assumptions, controllers.ReclaimAssumption)
	}
}

// judgeChanged handles an object that survives with other references.
func (j *Judge) judgeChanged(out *Outcome) {
	j.decide(changedRules, out)
	out.Removed = j.removedReferences(out.Track)
}

// judgeOrphaned handles an object that lost the reference to the owner that orphaned it.
func (j *Judge) judgeOrphaned(out *Outcome) {
	out.Result, out.Reason = report.Orphaned, reason.OrphanDependents.String()
	out.Because = []object.Ref{out.Track.orphanedBy.Ref}
	if j.mayBeAdopted(out.Track.Last) {
		out.Assumptions = append(out.Assumptions, controllers.AdoptionAssumption)
	}
}

// openSinceOrphaned looks up an object that lost a reference to its owner and that the collector has
// not considered since. If another owner is unknown, the collector may still delete the object. It
// returns nil if nothing is unknown.
func (j *Judge) openSinceOrphaned(tr *Track) *Outcome {
	if tr.orphanedBy == nil || len(tr.Last.Owners) == 0 {
		return nil
	}
	return j.lookUp(tr.Last)
}

// judgeConsidered handles an object that the collector considered and left as it was.
func (j *Judge) judgeConsidered(out *Outcome) { j.decide(consideredRules, out) }

// judgeWithheld handles an object from which a write of the collector was withheld.
func (j *Judge) judgeWithheld(out *Outcome) {
	ref := out.Track.First.Ref
	why := j.Kept[ref]
	out.Result, out.Reason, out.Because = report.Kept, string(why), j.goneOwners(out.Track.Decision)
	if owner := j.Health.Overdue.Owner(j.Server, ref); owner != nil && why.Overdue() && j.mayYetGo(ref) {
		out.MarkUnknown(why)
	}
}

// judgeUndecided handles an object that may be garbage.
func (j *Judge) judgeUndecided(out *Outcome) {
	j.judgeKept(out)
	out.Result = report.Unknown
	if owner := out.Track.Decision.Unresolved(); owner != nil {
		out.Because, out.Detail = []object.Ref{owner.Ref}, detailOf(out.Track.Decision.Err())
	}
}

// judgeKept handles an object that its existing owners keep.
func (j *Judge) judgeKept(out *Outcome) {
	d := out.Track.Decision
	out.Result, out.Reason, out.Because = report.Kept, d.Reason.String(), j.owners(d, d.solid)
}

// keptForever reports whether an owner has a kind that is known not to be served. The garbage
// collector then decides nothing about the object, whatever happens to its other owners. (Q4) Our own
// collector leaves it undecided, and starts no deletion that would wait for the object forever.
func (j *Judge) keptForever(d judgement) bool {
	ours := j.Collects && j.Rules == engine.Strict
	return d.Reason == reason.UnknownOwnerKind && d.Unresolved() != nil && j.Snap.KnowsKindsOf(d.Unresolved().Ref.APIVersion) && !ours
}

// goneOwners returns the owners of a judged object that cannot keep it.
func (j *Judge) goneOwners(d judgement) []object.Ref { return j.owners(d, d.dangling, d.waiting) }

// owners returns the owners of a judged object that have their positions in one of the sets.
func (j *Judge) owners(d judgement, sets ...engine.Positions) []object.Ref {
	if d.live == nil {
		return nil
	}
	if len(d.live.Owners) == 1 && slices.ContainsFunc(sets, func(set engine.Positions) bool { return set.Has(0) }) {
		return j.onlyOwner(d.live)
	}
	var refs []object.Ref
	for i, ref := range d.live.Owners {
		if slices.ContainsFunc(sets, func(set engine.Positions) bool { return set.Has(i) }) {
			refs = append(refs, j.Locate(ref, d.live.Namespace))
		}
	}
	return refs
}

// onlyOwner returns the only owner of an object. It caches the slice, because siblings come in a
// row.
func (j *Judge) onlyOwner(o *object.Object) []object.Ref {
	if j.child == nil || !object.SameOwners(j.child.Owners, o.Owners) || j.child.Namespace != o.Namespace {
		j.child, j.parent = o, slices.Clip([]object.Ref{j.Locate(o.Owners[0], o.Namespace)})
	}
	return j.parent
}

// Locate returns the identity that a reference names. It has no namespace if the kind is
// cluster-scoped.
func (j *Judge) Locate(ref object.OwnerReference, namespace string) object.Ref {
	at := ref.In(namespace)
	if r, err := j.Server.Resource(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
		at.Namespace = ""
	}
	return at
}

func (j *Judge) removedReferences(tr *Track) []object.Ref {
	var refs []object.Ref
	for _, ref := range tr.First.Owners {
		if tr.lost(ref.UID) {
			refs = append(refs, j.Locate(ref, tr.First.Namespace))
		}
	}
	return refs
}

// judgeTaken handles a target of a request that removes finalizers. The target is gone, or it stays
// because it was not being deleted.
func (j *Judge) judgeTaken(out *Outcome) {
	tr := out.Track
	out.Reason = string(reason.FinalizerTaken)
	switch {
	case tr.Last != nil:
		out.Result = report.Kept
	case j.Words.Text(tr.RemovedBy) == ActorUser:
		out.Detail = "deleted immediately"
	}
}

// adopters caches, by kind and namespace, whether a controller exists that can adopt such objects.
type adopters map[adoptionPlace]bool

type adoptionPlace struct{ apiVersion, kind, namespace string }

// mayBeAdopted reports whether, at the end of the run, a controller exists or may exist that adopts o
// if its selector matches.
func (j *Judge) mayBeAdopted(o *object.Object) bool {
	resources := controllers.Adopters(o)
	if len(resources) == 0 {
		return false
	}
	at := adoptionPlace{o.APIVersion, o.Kind, o.Namespace}
	may, known := j.adopters[at]
	if !known {
		may = slices.ContainsFunc(resources, func(r object.Resource) bool { return j.mayLive(r, o.Namespace) })
		if j.adopters == nil {
			j.adopters = adopters{}
		}
		j.adopters[at] = may
	}
	return may
}

// mayLive reports whether the namespace has, or may have, an object of the resource that is not being
// deleted.
func (j *Judge) mayLive(r object.Resource, namespace string) bool {
	return !j.Snap.Covers(r, namespace) || slices.ContainsFunc(j.Snap.In(r.GroupResource(), namespace), func(o *object.Object) bool {
		now := j.Tracks.Now(o)
		return now != nil && !now.BeingDeleted()
	})
}

// detailOf returns what err adds to the text of its reason; empty if it adds nothing.
func detailOf(err error) string {
	var unknown *object.UnknownKindError
	var scope *object.NamespaceRequiredError
	switch {
	case err == nil, errors.As(err, &unknown), errors.As(err, &scope):
		return ""
	default:
		return object.WhyUncovered(err)
	}
}
