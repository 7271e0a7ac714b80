package lost

import (
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addAgain marks the losses that exist again, and the namespaces that nothing can be created in yet.
// An undo can do nothing about either.
func (d *document) addAgain() {
	last := lastOf(d.a.Past.Changes)
	closed, terminating := map[string]bool{}, namespacesGoing(d.a)
	for i := range d.out.Losses {
		l := &d.out.Losses[i]
		if o := last[object.Ref(l.Object).Coordinates()]; o != nil && isAgain(l, o) {
			l.Again = o.UID
		}
		if ns := spaceOf(l.Object); terminating[ns] && d.q.File == "" { // the namespace may be gone since the file was written
			closed[ns] = true
		}
	}
	d.out.Terminating = slices.Sorted(maps.Keys(closed))
}

// isAgain reports whether the object now at the coordinates of a loss makes up for it.
func isAgain(l *report.Loss, o *object.Object) bool {
	switch l.State {
	case report.LossDeleted:
		return o.UID != l.Object.UID
	case report.LossOrphaned:
		return o.UID == l.Object.UID && !slices.ContainsFunc(l.Owners, func(owner report.Ref) bool {
			return !slices.ContainsFunc(o.Owners, func(r object.OwnerReference) bool {
				return r.Kind == owner.Kind && r.Name == owner.Name && object.GroupOf(r.APIVersion) == object.GroupOf(owner.APIVersion)
			})
		})
	default:
		return false
	}
}

// lastOf returns the objects that exist after the changes, by their coordinates. Objects that are
// being deleted are left out.
func lastOf(changes []history.Change) map[object.Coordinates]*object.Object {
	last := map[object.Coordinates]*object.Object{}
	for i := range changes {
		c := &changes[i]
		if at := c.Object.Ref.Coordinates(); c.Type == object.Deleted || c.Object.BeingDeleted() {
			delete(last, at)
		} else {
			last[at] = c.Object
		}
	}
	return last
}

// namespacesGoing returns the namespaces that exist and are being deleted.
func namespacesGoing(a *history.Account) map[string]bool {
	going := map[string]bool{}
	for _, o := range a.Past.Standing {
		if o.Is(object.Namespace) && o.BeingDeleted() {
			going[o.Name] = true
		}
	}
	for i := range a.Losses {
		if l := &a.Losses[i]; l.Object.Is(object.Namespace) {
			going[l.Object.Name] = stateOf(l) == report.LossBeingDeleted
		}
	}
	return going
}
