package past

import (
	"maps"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// undoDelay is how long an undo command stays valid after it was printed.
const undoDelay = 2 * time.Minute

// addUndo adds the command that brings back the losses, or saves them if none can come back yet. It
// reaches back a little further than the first loss, because the command runs later.
func (d *document) addUndo() {
	if len(d.q.Objects) == 1 && !d.namespaceExists(d.q.Objects[0]) {
		d.addUndoFor(d.q.Objects[0])
		return
	}
	first, found := int64(0), false
	var where []string
	asked := map[int]bool{} // the requests that caused any of it
	later := !slices.ContainsFunc(d.out.Losses, func(l report.Loss) bool { return isRestorable(d.out, &l) })
	for i := range d.out.Losses {
		l := &d.out.Losses[i]
		if wanted := isRestorable(d.out, l) || later && waitsForNamespace(d.out, l); !wanted {
			continue
		}
		at := d.a.Past.Clock.Earliest(uint64(l.Began.Revision)).Time
		if !found || at < first {
			first, found = at, true
		}
		where = append(where, namespaceOf(l.Object))
		asked[l.Request] = true
	}
	if !found {
		return
	}
	for i := range d.out.Requests {
		r := &d.out.Requests[i]
		if !asked[r.N] {
			continue
		}
		for _, o := range r.Objects { // a CRD is created before its instances
			if !o.Is(object.CRD) || d.q.Namespace == "" {
				where = append(where, namespaceOf(o))
			} else if at := d.a.Past.Clock.Earliest(uint64(r.At.Revision)).Time; at != 0 {
				first = min(first, at) // it comes with its instances in the namespace
			}
		}
	}
	act := d.undoAct(first)
	slices.Sort(where)
	if where = slices.Compact(where); len(where) == 1 {
		act.Target.Namespace = where[0]
	}
	d.addRemedy(act, later)
}

// namespaceExists reports whether a deleted namespace exists: it is Terminating, or was created
// again. Its content may still be missing.
func (d *document) namespaceExists(named object.Ref) bool {
	return named.Is(object.Namespace) && slices.ContainsFunc(d.out.Losses, func(l report.Loss) bool {
		return named.Coordinates() == l.Object.Coordinates() && (l.State == report.LossBeingDeleted || l.Again != "")
	})
}

// addRemedy adds the command of an undo. If later is true, it is the one that saves losses that
// cannot come back before their namespace is gone.
func (d *document) addRemedy(act report.Act, later bool) {
	effect := "brings it back"
	if later {
		act.Action, effect = report.SaveLost, "saves it in a backup"
	}
	d.out.Remedies = []report.Remedy{act.Remedy(effect)}
}

// undoAct returns an undo that reaches back to a time. It reaches back to the whole answer if the
// undo could not map the time to a revision, and for a file, which does not change.
func (d *document) undoAct(first int64) report.Act {
	if d.q.File != "" {
		return report.Act{Action: report.BringBack, Revision: int64(max(d.a.Past.From.Revision, 1)), Flags: d.q.File}
	}
	if first == 0 || d.a.Past.Timeless {
		return report.Act{Action: report.BringBack, Revision: int64(max(d.a.Past.From.Revision, 1))}
	}
	return report.Act{Action: report.BringBack, Minutes: roundMinutes(d.a.Past.To.Time - first)}
}

// isRestorable reports whether an undo would bring back a loss.
func isRestorable(of *report.Lost, l *report.Loss) bool {
	return isMissing(l) && !slices.Contains(of.Terminating, namespaceOf(l.Object))
}

// waitsForNamespace reports whether an undo can bring back a loss only after its namespace is gone.
func waitsForNamespace(of *report.Lost, l *report.Loss) bool {
	return isMissing(l) && slices.Contains(of.Terminating, namespaceOf(l.Object))
}

// isMissing reports whether an undo should bring back a loss.
func isMissing(l *report.Loss) bool {
	bound := l.Object.Is(object.PV) && l.Object.Namespace == "" && l.Request > 0
	return !l.Routine && l.State != report.LossBeingDeleted && l.Again == "" && !bound
}

// addUndoFor adds the command that brings back a named object. The target is the first deleted
// object in the chain of causes: for a pod of a deleted Deployment it is the Deployment. An object
// with a replacement gets no command. A CRD that exists again is never the target, because all of
// its instances would come back, too.
func (d *document) addUndoFor(named object.Ref) {
	at := map[object.Ref]*report.Loss{}
	var l *report.Loss
	for i := range d.out.Losses {
		x := &d.out.Losses[i]
		at[x.Object] = x
		if named.Coordinates() == x.Object.Coordinates() {
			l = x
		}
	}
	for i := range slices.Backward(d.out.Losses) { // else of the last CRD that does not exist again
		if l == nil && d.isGoneCRD(d.out.Losses[i].Object) {
			l = &d.out.Losses[i]
		}
	}
	if l == nil || l.State != report.LossDeleted || len(l.ReplacedBy) > 0 || l.Again != "" {
		return
	}
	later := waitsForNamespace(d.out, l)
	for range d.out.Losses {
		if l.By == nil || at[*l.By] == nil || at[*l.By].State != report.LossDeleted || l.By.Is(object.CRD) && !d.isGoneCRD(*l.By) {
			break
		}
		l = at[*l.By]
	}
	target, began := l.Object, l.Began
	for _, r := range d.out.Requests {
		if r.N == l.Request && l.By != nil && at[*l.By] == nil && len(r.Objects) == 1 && d.isGoneCRD(r.Objects[0]) {
			target, began = r.Objects[0], r.At // the objects between them are unknown
		}
	}
	act := d.undoAct(d.a.Past.Clock.Earliest(uint64(began.Revision)).Time)
	act.Target = target
	if target.Is(object.Namespace) {
		act.Target = object.Ref{Namespace: target.Name}
	}
	d.addRemedy(act, later)
}

// isGoneCRD reports whether an object is a CRD that does not exist again.
func (d *document) isGoneCRD(crd object.Ref) bool {
	return crd.Is(object.CRD) && slices.ContainsFunc(d.out.Gaps, func(g report.Gap) bool {
		return g.Why == string(reason.CRDGone) && g.Resource+"."+object.GroupOf(g.APIVersion) == crd.Name
	})
}

// namespaceOf returns the namespace of an object, or the object's name if it is a namespace.
func namespaceOf(r object.Ref) string {
	if r.Is(object.Namespace) {
		return r.Name
	}
	return r.Namespace
}

// roundMinutes rounds seconds plus undoDelay up to a multiple of five minutes.
func roundMinutes(seconds int64) int {
	const few = 5
	n := int((time.Duration(seconds)*time.Second + undoDelay + time.Minute - 1) / time.Minute)
	return (n + few - 1) / few * few
}

// addRecreated marks the losses that exist again, and the Terminating namespaces, in which nothing
// can be created. An undo brings back neither.
func (d *document) addRecreated() {
	last := lastStates(d.a.Past.Changes)
	closed, terminating := map[string]bool{}, terminatingNamespaces(d.a)
	for i := range d.out.Losses {
		l := &d.out.Losses[i]
		if o := last[l.Object.Coordinates()]; o != nil && isRecreated(l, o) {
			l.Again = o.UID
		}
		if ns := namespaceOf(l.Object); terminating[ns] && d.q.File == "" { // the namespace may be gone since the file was written
			closed[ns] = true
		}
	}
	d.out.Terminating = slices.Sorted(maps.Keys(closed))
}

// isRecreated reports whether the object now at the coordinates of a loss makes up for it.
func isRecreated(l *report.Loss, o *object.Object) bool {
	switch l.State {
	case report.LossDeleted:
		return o.UID != l.Object.UID
	case report.LossOrphaned:
		return o.UID == l.Object.UID && !slices.ContainsFunc(l.Owners, func(owner object.Ref) bool {
			return !slices.ContainsFunc(o.Owners, func(r object.OwnerReference) bool {
				return r.Kind == owner.Kind && r.Name == owner.Name && object.GroupOf(r.APIVersion) == object.GroupOf(owner.APIVersion)
			})
		})
	default:
		return false
	}
}

// lastStates returns the objects that exist after the changes, by their coordinates. Objects that
// are being deleted are left out.
func lastStates(changes []Change) map[object.Coordinates]*object.Object {
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

// terminatingNamespaces returns the namespaces that exist and are being deleted.
func terminatingNamespaces(a *Account) map[string]bool {
	going := map[string]bool{}
	for _, o := range a.Past.Unchanged {
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
