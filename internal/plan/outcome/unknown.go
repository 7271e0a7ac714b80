package outcome

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// markAmbiguous sets outcomes to Unknown if the run may have confused the object or its owner with
// another object: several objects have the uid, or the snapshot lacks it. It does the same for
// owners that cannot be orphaned only because of dependents with shared uids: the graph merges
// these into one.
func (j *Judge) markAmbiguous(all *Outcomes) {
	shared, nameless := j.Tracks.Shared, j.hasNameless()
	if len(shared) == 0 && !nameless {
		return
	}
	for _, out := range all.All() {
		tr := out.Track
		switch {
		case j.Tracks.Ambiguous(tr), out.Reason == string(reason.OrphaningFails) && !slices.ContainsFunc(out.Blocked.Dependents, func(d object.Ref) bool { return !shared[d.UID] }):
			out.MarkUnknown(reason.SharedUID)
		case tr.First.BeingDeleted(): // its owners no longer matter
		case out.Result == report.Deleted && len(j.containers(tr.First)) > 0: // it goes with its namespace, whatever owns it
		case out.Result != report.Kept && nameless && tr.refersTo(func(o object.OwnerReference) bool { return j.nameless(o, tr.First.Namespace) }):
			out.MarkUnknown(reason.MissingUID)
		}
	}
}

// Ambiguous reports whether several objects have the uid of an object, or of an owner that may take
// it along.
func (t *Tracks) Ambiguous(tr *Track) bool {
	return t.Shared[tr.First.UID] || tr.refersTo(func(o object.OwnerReference) bool { return t.Shared[o.UID] })
}

// refersTo reports whether an owner that satisfies is may cause the deletion of an object. It returns
// false for a target, which is deleted anyway.
func (tr *Track) refersTo(is func(object.OwnerReference) bool) bool {
	return !tr.Target && slices.ContainsFunc(tr.First.Owners, is)
}

// sharedUIDs returns the UIDs that several objects of a snapshot have.
func sharedUIDs(snap *snapshot.Snapshot) map[types.UID]bool {
	shared := map[types.UID]bool{}
	for _, p := range snap.Problems {
		if p.Kind == snapshot.DuplicateUID {
			shared[p.Object.UID] = true
		}
	}
	return shared
}

// markMayBeOrphaned marks the objects that go with an owner that is being deleted, if its controller may remove
// their references first. It leaves out those that go whatever their owners are.
func (j *Judge) markMayBeOrphaned(all *Outcomes) {
	for _, out := range all.All() {
		tr := out.Track
		if out.Result != report.Deleted && out.Result != report.Blocked || tr.Target || tr.First.BeingDeleted() {
			continue
		}
		for _, owner := range j.goneOwners(tr.removal()) {
			condition := j.mayOrphan(owner, tr.First.Ref)
			if condition != "" && j.Tracks.Deployer(tr.First) == nil && len(j.containers(tr.First)) == 0 {
				out.MarkUnknown(reason.MayBeOrphaned)
				out.Because, out.Blocked, out.Detail = []object.Ref{owner}, nil, condition
			}
		}
	}
}

// mayOrphan returns when the controller of an owner removes the owner references of a dependent before the
// owner goes; empty if it does not: the controller does not run, or the owner was gone at once, or the request
// itself removes its finalizer.
func (j *Judge) mayOrphan(owner, dependent object.Ref) string {
	name, condition := finalizer.MayOrphan(owner, dependent)
	if name == "" {
		return ""
	}
	tr := j.Tracks.Meant(owner)
	if tr == nil || tr.MarkedBy == 0 && !tr.First.BeingDeleted() || j.Takes && tr.Target || j.Gone(tr.First, name) {
		return ""
	}
	return condition
}

// markDependents propagates Unknown down the owner references. An object kept by one that may go may
// go as well. An object that goes with one that may stay may stay.
func (j *Judge) markDependents(all *Outcomes) {
	var open []*Outcome
	for _, out := range all.All() {
		if out.Result == report.Unknown {
			open = append(open, out)
		}
	}
	j.propagateFrom(all, open)
}

// propagateFrom propagates Unknown from these outcomes to their dependents.
func (j *Judge) propagateFrom(all *Outcomes, open []*Outcome) {
	if len(open) == 0 {
		return
	}
	takers := j.takers(all, open)
	var kept []*Outcome
	for len(open) > 0 {
		out := open[len(open)-1]
		open = open[:len(open)-1]
		for _, d := range takers[out.Track.First.UID] {
			if (d.Result == report.Deleted || d.Result == report.Blocked) && !d.Track.Target {
				if d.Result == report.Blocked {
					d.Because, d.Blocked = []object.Ref{out.Track.First.Ref}, nil
				}
				d.MarkUnknown(reason.OwnerUnknown)
				open = append(open, d)
			}
		}
		// A dependent of an object that was being deleted is as unknown as it was before, unless the
		// object is a target.
		if o := out.Track.Last; o != nil && (!out.Track.First.BeingDeleted() || out.Track.Target) {
			marked := j.markKept(all, o)
			open, kept = append(open, marked...), append(kept, marked...)
		}
	}
	j.blameOwners(all, kept)
}

// blameOwners names the owners that make outcomes unknown. If the requests made such an owner
// unknown, they caused the outcome, too. Otherwise the outcome would be unknown without them.
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

// takers returns the objects that go, or that only a finalizer holds, by the uids of the objects that caused
// their deletion, and of owners to which they had lost the reference. It returns nil unless it is unknown which
// object owns which, or which owner goes.
func (j *Judge) takers(all *Outcomes, open []*Outcome) map[types.UID][]*Outcome {
	if !slices.ContainsFunc(open, func(out *Outcome) bool {
		switch reason.Code(out.Reason) {
		case reason.SharedUID, reason.MissingUID, reason.UpdateUnknown, reason.MayBeOrphaned:
			return true
		default:
			return false
		}
	}) {
		return nil
	}
	byOwner := map[types.UID][]*Outcome{}
	for _, out := range all.All() {
		because := out.Because
		switch {
		case out.Result == report.Blocked && !out.Track.First.BeingDeleted():
			because = j.goneOwners(out.Track.removal())
			if from := j.Tracks.Deployer(out.Track.First); from != nil {
				because = append(slices.Clip(because), from.Ref)
			}
		case out.Result != report.Deleted:
			continue
		}
		for _, owner := range because {
			byOwner[owner.UID] = append(byOwner[owner.UID], out)
		}
		// An owner would have kept the object if its reference had not been removed earlier.
		judged := out.Track.removal().live
		for _, ref := range out.Track.First.Owners {
			if judged != nil && !judged.RefersTo(ref.UID) {
				byOwner[ref.UID] = append(byOwner[ref.UID], out)
			}
		}
	}
	return byOwner
}

// markKept sets the dependents of an object that may go to Unknown, unless another owner keeps them
// for certain. It returns the outcomes of these dependents.
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
		if out.Result != report.Unknown { // a shared uid stays unknown whatever its owner does
			out.MarkUnknown(reason.OwnerUnknown)
		}
		marked = append(marked, out)
		return true
	})
	return marked
}

// keptForCertain reports whether an owner of the object exists, does not wait for its dependents, and
// has a known outcome or none.
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
