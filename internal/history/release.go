package history

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// release records owner references that an object has lost. If the garbage collector has no reason
// to remove them, a client has written the object, and nothing is lost.
func (t *tracer) release(before, now *object.Object, revision uint64) {
	var dropped []object.OwnerReference
	for _, ref := range before.Owners {
		if !now.RefersTo(ref.UID) {
			dropped = append(dropped, ref)
		}
	}
	if len(dropped) == 0 {
		return
	}
	loss := Loss{Object: before, Asked: revision, Orphaned: true, Cause: Cause{Request: -1}}
	for _, ref := range dropped {
		owner := t.named(ref.In(before.Namespace))
		x, known := t.world.find(owner.Coordinates())
		absent := x == nil && known || x != nil && x.UID != ref.UID
		request, _ := t.began(owner)
		switch {
		case t.orphaning[ref.UID]:
			if again, ok := t.orphanedBy[ref.UID]; ok {
				request = again
			}
			loss.Cause = Cause{OwnerOrphans, owner, request}
		case len(now.Owners) > 0 && (absent || t.waited[ref.UID]):
			if loss.Cause.Code == "" {
				loss.Cause = Cause{ReferenceRemoved, owner, request}
			}
		default:
			continue
		}
		loss.Owners = append(loss.Owners, owner)
	}
	if len(loss.Owners) > 0 {
		t.lose(loss)
	}
}

// askAgain records another delete of an object that is being deleted: only a DELETE can add the
// collector's finalizers to it. If the object has owners, the delete may be a late one of the
// garbage collector, which uses the policy of the object's finalizers, or Foreground for a waiting
// owner.
func (t *tracer) askAgain(i int, before, now *object.Object, revision uint64) {
	had, has := traceOf(before), traceOf(now)
	first := t.losses[i].Object
	seen := !first.BeingDeleted() && !t.world.guessed[identityOf(first.Ref)] // the state before any delete
	switch {
	case has.orphan && !had.orphan:
		sent := t.again(now, revision, orphan)
		certain := sent != nil || len(first.Owners) == 0 || seen && !first.HasFinalizer(object.Orphan)
		t.orphanedBy[now.UID] = t.request(i, revision, Orphan, certain, sent)
		t.spare(now.Ref)
	case has.foreground && !had.foreground && len(first.Owners) == 0:
		t.request(i, revision, Foreground, true, t.again(now, revision, foreground))
	}
}

// spare marks the cause of dependents of a waiting owner as uncertain: without a client's request
// they might have been released.
func (t *tracer) spare(owner object.Ref) {
	for i := range t.losses {
		if l := &t.losses[i]; l.Cause.Code == OwnerWaits && l.Cause.By == owner && len(l.Or) == 0 {
			l.Or = []Cause{{Code: Requested, Request: -1}}
		}
	}
}
