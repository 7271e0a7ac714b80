package outcome

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// markAmbiguous turns the outcomes of objects into Unknown that may belong to
// another owner than the run has taken for it: because several objects have the
// owner's uid, or because the owner's uid is not in the snapshot. So are those of owners
// that cannot be orphaned because of such an object alone: the graph makes one of several.
func (j *Judge) markAmbiguous(all *Outcomes) {
	shared, nameless := j.Tracks.Shared, j.hasNameless()
	if len(shared) == 0 && !nameless {
		return
	}
	for _, out := range all.All() {
		tr := out.Track
		switch {
		case j.Tracks.Ambiguous(tr), out.Reason == string(reason.OrphaningFails) && !slices.ContainsFunc(out.Blocked.Dependents, func(d report.Ref) bool { return !shared[d.UID] }):
			out.MarkUnknown(reason.SharedUID)
		case tr.First.BeingDeleted(): // whatever owns it
		case out.Result == report.Deleted && len(j.containers(tr.First)) > 0: // it goes with its namespace, whatever owns it
		case out.Result != report.Kept && nameless && tr.refersTo(func(o object.OwnerReference) bool { return j.nameless(o, tr.First.Namespace) }):
			out.MarkUnknown(reason.MissingUID)
		}
	}
}

// Ambiguous reports whether several objects have the uid of an object, or of an owner of it
// that may take it.
func (t *Tracks) Ambiguous(tr *Track) bool {
	return t.Shared[tr.First.UID] || tr.refersTo(func(o object.OwnerReference) bool { return t.Shared[o.UID] })
}

// refersTo reports whether an owner may take an object that is of some kind; who asks for its
// end asks for no owner.
func (tr *Track) refersTo(is func(object.OwnerReference) bool) bool {
	return !tr.Target && slices.ContainsFunc(tr.First.Owners, is)
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

// markDependents follows Unknown down the owner references: who is kept by an
// object that may go may go as well, and who goes with an object that may stay may
// stay.
func (j *Judge) markDependents(all *Outcomes) {
	var open []*Outcome
	for _, out := range all.All() {
		if out.Result == report.Unknown {
			open = append(open, out)
		}
	}
	j.propagateFrom(all, open)
}

// propagateFrom follows Unknown down from these.
func (j *Judge) propagateFrom(all *Outcomes, open []*Outcome) {
	if len(open) == 0 {
		return
	}
	takers := all.takers(open)
	var kept []*Outcome
	for len(open) > 0 {
		out := open[len(open)-1]
		open = open[:len(open)-1]
		for _, d := range takers[out.Track.First.UID] {
			if d.Result == report.Deleted && !d.Track.Target {
				d.MarkUnknown(reason.OwnerUnknown)
				open = append(open, d)
			}
		}
		// Who waits for others to let what is being deleted go is none of what we know less of
		// than before, unless we had it deleted.
		if o := out.Track.Last; o != nil && (!o.BeingDeleted() || out.Track.Target) {
			marked := j.markKept(all, o)
			open, kept = append(open, marked...), append(kept, marked...)
		}
	}
	j.blameOwners(all, kept)
}

// blameOwners names the owners because of which nothing is known. What rests on
// an owner that the seed made unknown is the seed's doing as well; all else would
// be unknown without it.
func (j *Judge) blameOwners(all *Outcomes, kept []*Outcome) {
	g := j.Collector.Graph()
	isKept := make(map[*Outcome]bool, len(kept))
	for _, out := range kept {
		out.Because, isKept[out] = nil, true
	}
	dependents := map[*Outcome][]*Outcome{}
	var caused []*Outcome
	for _, out := range kept {
		for _, ref := range out.Track.Last.Owners {
			id, ok := g.Find(ref.UID)
			if !ok {
				continue
			}
			owner := j.Of(all, g.Identity(id))
			if owner == nil || owner.Result != report.Unknown {
				continue
			}
			out.Because = append(out.Because, owner.Track.First.Ref)
			dependents[owner] = append(dependents[owner], out)
			if !owner.AlreadyHappening && !isKept[owner] {
				caused = append(caused, owner)
			}
		}
	}
	bySeed := propagate(caused, dependents)
	for _, out := range kept {
		out.AlreadyHappening = !j.Collects && !bySeed[out]
	}
}

// takers lists who was deleted because of owners, or after it had lost a reference to
// them, by the uid of the owner; empty unless it is not known who is whose owner, or which
// owner goes at all.
func (all *Outcomes) takers(open []*Outcome) map[types.UID][]*Outcome {
	if !slices.ContainsFunc(open, func(out *Outcome) bool {
		switch reason.Code(out.Reason) {
		case reason.SharedUID, reason.MissingUID, reason.UpdateUnknown:
			return true
		default:
			return false
		}
	}) {
		return nil
	}
	byOwner := map[types.UID][]*Outcome{}
	for _, out := range all.All() {
		if out.Result != report.Deleted {
			continue
		}
		for _, owner := range out.Because {
			byOwner[owner.UID] = append(byOwner[owner.UID], out)
		}
		// A reference that was dropped before would have kept it.
		judged := out.Track.removal().live
		for _, ref := range out.Track.First.Owners {
			if judged != nil && !judged.RefersTo(ref.UID) {
				byOwner[ref.UID] = append(byOwner[ref.UID], out)
			}
		}
	}
	return byOwner
}

// markKept turns the dependents of an object that may go into Unknown, unless
// another owner keeps them for certain.
func (j *Judge) markKept(all *Outcomes, owner *object.Object) []*Outcome {
	g := j.Collector.Graph()
	id, ok := g.Find(owner.UID)
	if !ok || g.Virtual(id) || g.Identity(id) != owner.Ref {
		return nil
	}
	var marked []*Outcome
	g.EachDependent(id, func(d graph.ID) bool {
		o := g.Object(d)
		out := j.OfObject(all, o)
		if o.BeingDeleted() || out != nil && out.Result != report.Kept && out.Result != report.Pruned || j.keptForCertain(all, o) {
			return true
		}
		if out == nil {
			out = j.keptBy(o, owner.Ref)
			j.set(all, o, out)
		}
		if out.Result != report.Unknown { // which of several it is, is not known whatever its owner does
			out.MarkUnknown(reason.OwnerUnknown)
		}
		marked = append(marked, out)
		return true
	})
	return marked
}

// keptForCertain reports whether an owner of the object exists that does not wait
// for its dependents and of which it is not unknown whether it stays.
func (j *Judge) keptForCertain(all *Outcomes, o *object.Object) bool {
	g := j.Collector.Graph()
	return slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool {
		id, ok := g.Find(ref.UID)
		if !ok || g.Virtual(id) || g.WaitingForDependents(id) {
			return false
		}
		owner := g.Identity(id)
		if owner.Name != ref.Name || !strings.EqualFold(owner.Kind, ref.Kind) || owner.Namespace != "" && owner.Namespace != o.Namespace {
			return false
		}
		out := j.Of(all, owner)
		return out == nil || out.Result != report.Unknown
	})
}
