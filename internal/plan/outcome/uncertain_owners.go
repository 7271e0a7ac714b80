package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// The output of `kubectl neat` and `helm template` has objects without a uid. A reference may have
// the name of one, but whether it refers to it is unknown. Neither is it known if the reference has no uid.

func (j *Judge) hasNameless() bool {
	return slices.ContainsFunc(j.Snap.Problems, func(p snapshot.Problem) bool { return p.Kind == snapshot.NoUID || p.Kind == snapshot.NoOwnerUID })
}

// nameless reports whether the object that a reference names, or the reference, has no uid in the snapshot.
func (j *Judge) nameless(ref object.OwnerReference, namespace string) bool {
	return j.namelessOwner(ref, namespace) != nil
}

// namelessOwner returns the object that a reference names if one of the two has no uid; nil otherwise.
func (j *Judge) namelessOwner(ref object.OwnerReference, namespace string) *object.Object {
	r, err := j.Server.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return nil
	}
	if stored, ok := j.Snap.Resources.Stored(r.GroupResource()); ok {
		r = stored
	}
	if !r.Namespaced {
		namespace = ""
	}
	if o := j.Snap.Find(r.APIVersion(), r.Kind, namespace, ref.Name); o != nil && (ref.UID == "" || MadeUp(o.UID)) {
		return o
	}
	return nil
}

// namelessOwners returns the dependents of each namelessOwner, by the names in their references.
func (j *Judge) namelessOwners() map[*object.Object][]*object.Object {
	if j.dependentsByName == nil {
		j.dependentsByName = map[*object.Object][]*object.Object{}
		for _, o := range j.Snap.Objects {
			for _, ref := range o.Owners {
				if owner := j.namelessOwner(ref, o.Namespace); owner != nil {
					j.dependentsByName[owner] = append(j.dependentsByName[owner], o)
				}
			}
		}
	}
	return j.dependentsByName
}

// addNameless adds the objects that name an owner without a uid, if that owner goes, or may go,
// because of the request. They go as well if their references do mean this owner.
func (j *Judge) addNameless(all *Outcomes) (added []*Outcome) {
	if !j.hasNameless() {
		return nil
	}
	byName := j.namelessOwners()
	var owners []*Outcome
	for _, out := range all.All() {
		owners = append(owners, out)
	}
	for _, owner := range owners {
		if owner.AlreadyHappening || owner.Result != report.Deleted && owner.Result != report.Blocked && owner.Result != report.Unknown {
			continue
		}
		for _, o := range byName[j.Snap.Find(owner.Track.First.APIVersion, owner.Track.First.Kind, owner.Track.First.Namespace, owner.Track.First.Name)] {
			out := j.OfObject(all, o)
			if o.BeingDeleted() || out == nil && j.keptForCertain(all, o) || out != nil && !j.dependsOnNameless(out) {
				continue
			}
			if out == nil {
				out = &Outcome{Track: &Track{First: o, Last: o}}
				j.set(all, o, out)
			}
			out.MarkUnknown(reason.MissingUID)
			out.AlreadyHappening, out.Because, out.Detail = false, []object.Ref{owner.Track.First.Ref}, ""
			added = append(added, out)
		}
	}
	return added
}

// dependsOnNameless reports whether an outcome may change if an owner without a uid goes. It cannot
// change for a target, for an object that the request deletes or makes unknown in any case, and for
// one that is deleted with its namespace.
func (j *Judge) dependsOnNameless(out *Outcome) bool {
	switch {
	case out.Track.Target:
		return false
	case out.Result == report.Deleted:
		return out.AlreadyHappening && len(j.containers(out.Track.First)) == 0
	default:
		return out.AlreadyHappening || out.Result != report.Unknown
	}
}

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

// succeeded marks an object as unknown that depends on the successor of an owner, and returns its
// outcome. It returns none if the requests already make the object unknown or delete it.
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
