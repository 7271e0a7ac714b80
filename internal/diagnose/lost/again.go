package lost

import (
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addAgain says of the losses which of them are there again, and in which namespaces nothing can be
// made yet: an undo does nothing about either.
func (d *document) addAgain() {
	last := lastOf(d.a.Past.Changes)
	closed, terminating := map[string]bool{}, namespacesGoing(d.a)
	for i := range d.out.Losses {
		l := &d.out.Losses[i]
		if o := last[coordinatesOf(object.Ref(l.Object))]; o != nil && isAgain(l, o) {
			l.Again = o.UID
		}
		if ns := spaceOf(l.Object); terminating[ns] && d.q.File == "" { // as of a file it may have gone since
			closed[ns] = true
		}
	}
	d.out.Terminating = slices.Sorted(maps.Keys(closed))
}

// isAgain reports whether what is at the place of a loss makes up for it.
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

// coordinates are where an object is, whatever its version and uid.
type coordinates struct{ group, kind, namespace, name string }

func coordinatesOf(r object.Ref) coordinates {
	return coordinates{r.Group(), r.Kind, r.Namespace, r.Name}
}

// lastOf are the objects that changes have left, by where they are; those that are being deleted are
// none.
func lastOf(changes []history.Change) map[coordinates]*object.Object {
	last := map[coordinates]*object.Object{}
	for i := range changes {
		c := &changes[i]
		if at := coordinatesOf(c.Object.Ref); c.Type == object.Deleted || c.Object.BeingDeleted() {
			delete(last, at)
		} else {
			last[at] = c.Object
		}
	}
	return last
}

// namespacesGoing are the namespaces that are there and being deleted.
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
