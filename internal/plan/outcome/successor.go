package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addSuccessors adds the dependents of a deleted object's successors. A successor has the same name
// and another uid: the snapshot may have an older copy of the owner, and the delete then hits the
// newer one.
func (j *Judge) addSuccessors(all *Outcomes) (added []*Outcome) {
	var gone []object.Ref
	for _, out := range all.All() {
		ref := out.Track.First.Ref
		if goes := out.Track.Target || !out.AlreadyHappening && out.Result == report.Deleted; goes && len(j.Snap.Successors(ref)) > 0 {
			gone = append(gone, ref)
		}
	}
	slices.SortFunc(gone, object.Compare)
	g := j.Collector.Graph()
	for _, owner := range gone {
		for _, uid := range j.Snap.Successors(owner) {
			successor := owner
			successor.UID = uid
			id, ok := g.Find(uid)
			if !ok {
				continue
			}
			g.EachDependent(id, func(d graph.ID) bool {
				added = append(added, j.succeeded(all, g.Object(d), successor)...)
				return true
			})
		}
	}
	return added
}

// succeeded returns the outcome of an object that may depend on the successor of an owner. It returns
// none if the requests already make it unknown or worse.
func (j *Judge) succeeded(all *Outcomes, o *object.Object, owner object.Ref) []*Outcome {
	out := j.OfObject(all, o)
	if o.BeingDeleted() || out != nil && !out.AlreadyHappening && out.Result != report.Kept && out.Result != report.Pruned {
		return nil
	}
	if out == nil {
		out = &Outcome{Track: &Track{First: o, Last: o}}
		j.set(all, o, out)
	}
	out.AlreadyHappening = false
	out.MarkUnknown(reason.OwnerNotCovered)
	out.Because, out.Detail = []object.Ref{owner}, j.Snap.Doubt(owner.UID)
	return []*Outcome{out}
}
