package diagnose

import (
	"context"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// object examines what the collector has left undone about one object.
func (e *examiner) object(ctx context.Context, o *object.Object) {
	switch {
	case !o.BeingDeleted() && len(o.Owners) > 0:
		e.garbage(ctx, o)
	case !o.BeingDeleted():
	case o.HasFinalizer(object.Orphan) && o.HasFinalizer(object.Foreground):
		e.both(o)
	case o.HasFinalizer(object.Orphan):
		e.orphan(o)
	case o.HasFinalizer(object.Foreground):
		e.foreground(ctx, o)
	}
}

// garbage examines an object with owners. It adds a finding if the collector would delete it now
// because no owner exists. An object with a garbage owner has to wait for that one.
func (e *examiner) garbage(ctx context.Context, o *object.Object) {
	d, ok := e.now.next(ctx, o)
	if !ok || d.Reason != reason.NoExistingOwner {
		e.unseen = e.unseen || ok && d.Reason == reason.OwnerNotCovered
		return
	}
	if e.refused(o, health.Remove, ownerless(o)) {
		return
	}
	since, why := e.ownerlessSince(o, d)
	if e.before != nil {
		if then := e.before.same(o); then != nil {
			if d, ok := e.before.next(ctx, then); ok && d.Reason == reason.NoExistingOwner {
				if since == 0 || since > e.options.EarlierAt {
					since, why = e.options.EarlierAt, "the earlier dump shows it as garbage"
				}
			}
		}
	}
	code := reason.GarbageLeft
	message := ownerless(o)
	if least, known := e.age(since); known && least >= e.options.Patience {
		e.add(reason.GarbageOld, o.Ref, message+", for at least "+durationText(least), why)
		return
	}
	evidence := "" // its age is the longest that it can be garbage
	if most, known := e.age(o.Created); known {
		evidence = "created " + durationText(most) + " ago"
		if most < e.options.Patience {
			code = reason.GarbageYoung
		}
	}
	e.add(code, o.Ref, message, evidence)
}

// ownerlessSince returns a time since which no owner of o exists: the last creation of an object
// that took the name of an owner. It returns 0 unless each name is taken by an object younger than
// o.
//
// An older object with the name proves nothing: the owner may have been created after it, between
// two lists.
func (e *examiner) ownerlessSince(o *object.Object, d engine.Decision) (since int64, why string) {
	for i := range d.Owners {
		live := d.Owners[i].Live
		if d.Owners[i].Evidence != engine.OtherUID || live == nil || live.Created == 0 || o.Created == 0 || live.Created < o.Created {
			return 0, ""
		}
		if live.Created > since {
			since, why = live.Created, live.Ref.ShortName()+" was created again"
		}
	}
	return since, why
}

// orphan examines an object that waits for the release of its dependents. The collector starts that
// when the object is deleted.
func (e *examiner) orphan(o *object.Object) {
	if !e.watched(o) {
		return
	}
	if e.refusedDependents(o) || e.refused(o, health.Update, "its dependents were to be released when it was deleted") {
		return
	}
	if least, known := e.age(o.DeletionTimestamp()); known && least >= e.options.Patience {
		e.add(reason.OrphanStuck, o.Ref, "its dependents were to be released when it was deleted, "+durationText(least)+" ago", "the finalizer orphan is still there")
	}
}

// both examines an object with both finalizers of the collector. (spec Q20)
func (e *examiner) both(o *object.Object) {
	if !e.watched(o) {
		return
	}
	if least, known := e.age(o.DeletionTimestamp()); known && least >= e.options.Patience {
		e.add(reason.CollectorMissedDeletion, o.Ref, "it has the finalizers orphan and foregroundDeletion, and was deleted "+durationText(least)+" ago", "")
	}
}

// foreground examines an object that waits for its dependents to be deleted.
func (e *examiner) foreground(ctx context.Context, o *object.Object) {
	d, ok := e.now.next(ctx, o)
	waits, known := e.age(o.DeletionTimestamp())
	if !ok || !known || waits < e.options.Patience {
		return
	}
	if d.Reason == reason.NoBlockingDependents {
		if !e.refused(o, health.Update, "nothing blocks it any more") {
			e.unblocked(ctx, o, waits)
		}
		return
	}
	oldest, since, patched := e.blockers(ctx, o, d)
	if oldest != nil && e.refused(oldest, health.Remove, o.Ref.ShortName()+" waits for it") {
		return
	}
	if oldest != nil {
		if least, known := e.age(since); known && least >= e.options.Patience {
			e.add(reason.ForegroundStuck, o.Ref, "it waits for "+oldest.Ref.ShortName()+", which the garbage collector has not even begun to delete for at least "+durationText(least),
				"deleted "+durationText(waits)+" ago")
		}
		return
	}
	if patched != nil {
		e.add(reason.ForegroundWaits, o.Ref, "it waits for "+patched.Ref.ShortName()+", after the garbage collector has removed its reference", "deleted "+durationText(waits)+" ago")
	}
}

// blockers examines what a foreground deletion waits for. oldest is the dependent that the collector
// should have started to delete first, and since is when. patched is one that it has to patch
// instead. If that is refused forever, the collector is not at fault (Q23).
func (e *examiner) blockers(ctx context.Context, o *object.Object, d engine.Decision) (oldest *object.Object, since int64, patched *object.Object) {
	g := e.now.collector.Graph()
	for _, id := range d.Blockers {
		b := g.Object(id)
		if g.Virtual(id) || b.BeingDeleted() || b.Created == 0 {
			continue
		}
		next, ok := e.now.next(ctx, b)
		switch {
		case !ok || len(next.Requests) == 0:
		case next.Requests[0].Verb != engine.DeleteObject:
			patched = b
		default:
			if began := max(o.DeletionTimestamp(), b.Created); oldest == nil || began < since {
				oldest, since = b, began
			}
		}
	}
	return oldest, since, patched
}

// unblocked examines an object that nothing blocks any more: the collector only has to remove the
// finalizer. The time when the last dependent went is not recorded.
func (e *examiner) unblocked(ctx context.Context, o *object.Object, waits int64) {
	if gaps := plan.RelevantGaps(e.now.snap, func(ns string) bool { return ns == o.Namespace }); len(gaps) > 0 {
		e.unseen = true // an unseen dependent may block it
		return
	}
	message := "nothing blocks it any more, and the finalizer foregroundDeletion is still there"
	if e.before != nil {
		then := e.before.snap.Find(o.APIVersion, o.Kind, o.Namespace, o.Name)
		if then != nil && then.UID == o.UID && then.WaitingForDependents() {
			if d, ok := e.before.next(ctx, then); ok && d.Reason == reason.NoBlockingDependents {
				if least, known := e.age(e.options.EarlierAt); known && least >= e.options.Patience {
					e.add(reason.ForegroundStuck, o.Ref, message+", for at least "+durationText(least), "the earlier dump shows it like that")
					return
				}
			}
		}
	}
	e.add(reason.ForegroundWaits, o.Ref, message, "deleted "+durationText(waits)+" ago")
}

// refused reports whether a policy or an unreachable webhook refuses a write to an object, or may.
// It then adds a finding.
func (e *examiner) refused(o *object.Object, operation, message string) bool {
	if e.options.Health == nil {
		return false
	}
	r, refused := e.options.Health.Refuses(health.Write{Operation: operation, Object: o, First: true})
	switch {
	case !refused:
		return false
	case r.Sure:
		e.add(reason.WriteRefused, o.Ref, message+", and the API server refuses: "+r.Text(), "")
	default:
		e.unseen = true
		e.add(reason.WriteDoubtful, o.Ref, message+", and the API server may refuse: "+r.Text(), "")
	}
	return true
}

// refusedDependents is refused for the dependents that have to be released.
func (e *examiner) refusedDependents(o *object.Object) bool {
	g := e.now.collector.Graph()
	id, ok := g.Find(o.UID)
	if !ok {
		return false
	}
	found := false
	g.EachDependent(id, func(d graph.ID) bool {
		found = !g.Virtual(d) && e.refused(g.Object(d), health.Update, o.Ref.ShortName()+" is to release it")
		return !found
	})
	return found
}

// watched reports whether the collector watches the kind of the object.
func (e *examiner) watched(o *object.Object) bool {
	id, ok := e.now.collector.Graph().Find(o.UID)
	return ok && !e.now.collector.Graph().Virtual(id)
}

// ownerless returns a text that names the owners as absent.
func ownerless(o *object.Object) string {
	const most = 2
	names := make([]string, 0, most)
	for i, ref := range o.Owners {
		if i == most {
			return strings.Join(names, ", ") + " and " + strconv.Itoa(len(o.Owners)-most) + " more owners are absent"
		}
		names = append(names, ref.In("").ShortName())
	}
	if len(names) == 1 {
		return "its owner " + names[0] + " is absent"
	}
	return "its owners " + strings.Join(names, " and ") + " are absent"
}

// durationText formats seconds in their largest unit.
func durationText(seconds int64) string {
	for _, u := range []struct {
		seconds int64
		name    string
	}{{24 * 60 * 60, "day"}, {60 * 60, "hour"}, {60, "minute"}} {
		if seconds >= 2*u.seconds {
			return strconv.FormatInt(seconds/u.seconds, 10) + " " + u.name + "s"
		}
	}
	return report.Plural(int(seconds), "second")
}
