package outcome

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Overdue records the overdue deletions of the snapshot. The next step of each was possible at once, but
// its controller has not taken it for minutes, or has failed. The simulation does not take these
// steps either. A nil *Overdue has no entries.
type Overdue struct {
	// CollectorStopped is true if the collector does not write at all. It then holds every object with
	// one of its finalizers, also those that are not in deletions.
	CollectorStopped bool
	// deletions has the overdue deletion of each object in steps. The keys have no UIDs.
	deletions map[object.Ref]OverdueDeletion
	steps     map[overdueStep]bool
	// owners are the objects that wait for an overdue collector. byUID has their indexes in owners.
	owners []*object.Object
	byUID  map[types.UID][]int
}

// overdueStep is the step of one actor in the deletion of one object. The object is named without its UID.
type overdueStep struct {
	actor string
	of    object.Ref
}

// OverdueDeletion is why a deletion does not progress, and which finalizers stay because of it.
type OverdueDeletion struct {
	health.Lateness
	actor string
	holds []string
}

// Empty reports whether no deletion is overdue.
func (l *Overdue) Empty() bool { return len(l.steps) == 0 && !l.CollectorStopped }

// Of returns the overdue deletion of an object.
func (l *Overdue) Of(ref object.Ref) (OverdueDeletion, bool) {
	if l == nil {
		return OverdueDeletion{}, false
	}
	st, ok := l.deletions[ref.WithoutUID()]
	return st, ok
}

// holding returns the overdue deletion of an object that is being deleted.
func (l *Overdue) holding(o *object.Object) (OverdueDeletion, bool) {
	st, ok := l.Of(o.Ref)
	if !ok && l != nil && l.CollectorStopped && o.HandlesDependents() {
		why := health.Lateness{Reason: reason.CollectorNotWorking, Proven: true}
		return OverdueDeletion{Lateness: why, actor: ActorCollector}, true
	}
	return st, ok
}

// Add records that an actor is overdue. The first actor recorded for an object is the one reported.
func (l *Overdue) Add(actor string, o *object.Object, why health.Lateness, holds string) {
	key := o.Ref.WithoutUID()
	if l.steps == nil {
		l.steps, l.deletions = map[overdueStep]bool{}, map[object.Ref]OverdueDeletion{}
	}
	l.steps[overdueStep{actor, key}] = true
	st, known := l.deletions[key]
	if !known {
		st = OverdueDeletion{Lateness: why, actor: actor}
	}
	if holds != "" {
		st.holds = append(st.holds, holds)
	}
	l.deletions[key] = st
	if actor == ActorCollector {
		if l.byUID == nil {
			l.byUID = map[types.UID][]int{}
		}
		l.byUID[o.UID] = append(l.byUID[o.UID], len(l.owners))
		l.owners = append(l.owners, o)
	}
}

// Revised returns a copy in which the deletions that failed before are replaced by those that fail now.
func (l *Overdue) Revised(failing *Overdue) *Overdue {
	next := &Overdue{steps: maps.Clone(failing.steps), deletions: maps.Clone(failing.deletions)}
	if l == nil {
		return next
	}
	next.CollectorStopped, next.owners, next.byUID = l.CollectorStopped, l.owners, l.byUID
	for step := range l.steps {
		if st := l.deletions[step.of]; st.Reason != reason.NamespaceDeletionFails && st.Reason != reason.CRDCleanupFails {
			if next.steps == nil {
				next.steps, next.deletions = map[overdueStep]bool{}, map[object.Ref]OverdueDeletion{}
			}
			next.steps[step], next.deletions[step.of] = true, st
		}
	}
	return next
}

// Stops reports whether the step of an actor in the deletion of an object is overdue.
func (l *Overdue) Stops(actor string, of object.Ref) bool {
	if l == nil {
		return false
	}
	return l.steps[overdueStep{actor, of.WithoutUID()}]
}

// Owner returns the owner that is being deleted and for which the collector should have written to
// the object long ago; nil if there is none. Of several owners it returns the one recorded first.
func (l *Overdue) Owner(server *apisim.Server, ref object.Ref) *object.Object {
	if l == nil || len(l.owners) == 0 {
		return nil
	}
	o, err := server.Get(context.Background(), ref)
	if err != nil || o.BeingDeleted() {
		return nil
	}
	for _, c := range l.ownersOf(o) {
		owner := l.owners[c.place]
		now, err := server.Get(context.Background(), owner.Ref)
		if err != nil || now.UID != owner.UID {
			continue
		}
		if now.HasFinalizer(object.Orphan) || now.HasFinalizer(object.Foreground) && c.by.Blocks() {
			return owner
		}
	}
	return nil
}

// overdueOwner is an index in Overdue.owners, and the first reference to that owner.
type overdueOwner struct {
	place int
	by    *object.OwnerReference
}

// ownersOf returns the owners of an object that are in l.owners, in that order. It starts from the
// references, because an object has few of them, and the list may have thousands.
func (l *Overdue) ownersOf(o *object.Object) []overdueOwner {
	var list []overdueOwner
	for i := range o.Owners {
		for _, place := range l.byUID[o.Owners[i].UID] {
			list = append(list, overdueOwner{place, &o.Owners[i]})
		}
	}
	slices.SortStableFunc(list, func(a, b overdueOwner) int { return a.place - b.place })
	return slices.CompactFunc(list, func(a, b overdueOwner) bool { return a.place == b.place })
}

// LateReason returns the reason of an effect for the reason of an overdue step.
func LateReason(why reason.Code) reason.Code {
	if why == reason.DeletionForgotten {
		return reason.DeletionMissed
	}
	return why
}

// markOverdue sets the outcome of a deletion that does not progress: blocked if that is proven,
// unknown otherwise.
func (out *Outcome) markOverdue(st OverdueDeletion) {
	out.Result, out.Reason, out.Detail = report.Blocked, string(LateReason(st.Reason)), st.Detail
	if st.Reason == reason.ControllerNotWorking {
		out.Detail = st.actor
	}
	if !st.Proven {
		out.MarkUnknown(reason.Code(out.Reason))
	}
}

// StandsOpen reports whether an outcome is unknown because a controller is overdue. Another run
// cannot tell more.
func (out *Outcome) StandsOpen() bool {
	return out.Result == report.Unknown && reason.Code(out.Reason).Overdue()
}

// blockedByOverdue handles an object with an overdue deletion. If something else is known to hold the
// object as well, that stays the reason.
func (j *Judge) blockedByOverdue(out *Outcome, o *object.Object) {
	st, ok := j.Health.Overdue.holding(o)
	if ok {
		out.Blocked.Conditions = nil // the overdue controller would write them
	}
	tokens := o.OtherTokens() // blockedBesides is about these
	if !ok || slices.ContainsFunc(out.Blocked.Finalizers, func(name string) bool { return !slices.Contains(st.holds, name) && !slices.Contains(tokens, name) }) {
		return
	}
	if j.blockedBesides(out, o) {
		return
	}
	switch reason.Code(out.Reason) {
	case reason.BlockingDependents, reason.ContentRemains:
		if !j.untouched(out.Blocked.Dependents) {
			out.overdue = &st // the other objects may hold it for certain
			return
		}
	case "", reason.FinalizerRemains, reason.GracePeriodRuns, reason.OrphaningFails:
	case reason.ContentNotCovered: // the failed controller explains more than the gap
	default:
		return
	}
	if len(out.Blocked.Finalizers) == 0 {
		out.Blocked.Finalizers = slices.Clone(o.Finalizers())
	}
	out.markOverdue(st)
}

// blockedBesides handles a namespace with an overdue controller. It returns true, and sets the
// reason, if something else holds it for certain: tokens of other controllers, or APIs that
// discovery lacks.
func (j *Judge) blockedBesides(out *Outcome, o *object.Object) bool {
	if o.Kind != "Namespace" || o.Group() != "" {
		return false
	}
	var failing []string
	for _, u := range j.Health.Undiscovered() {
		if !u.Hidden {
			failing = append(failing, u.APIVersion+": "+u.Why)
		}
	}
	switch tokens := o.OtherTokens(); {
	case len(tokens) > 0:
		out.Reason, out.Detail = string(reason.ContentRemains), "spec.finalizers has "+strings.Join(tokens, ", ")
	case len(failing) > 0:
		out.Reason, out.Detail = string(j.discoveryReason()), strings.Join(failing, "; ")
	default:
		return false
	}
	out.Result, out.Blocked.Dependents = report.Blocked, nil
	return true
}

// untouched reports whether all of these objects exist and none is being deleted.
func (j *Judge) untouched(list []object.Ref) bool {
	return !slices.ContainsFunc(list, func(r object.Ref) bool {
		o, err := j.Server.Get(context.Background(), r)
		return err != nil || o.BeingDeleted()
	})
}

// addOverdue adds the objects that others wait for and that have an overdue deletion. Our requests do
// not change them.
func (j *Judge) addOverdue(all *Outcomes) {
	if j.Health.Overdue == nil {
		return
	}
	var more []*Track
	for _, out := range all.All() {
		if out.Blocked == nil {
			continue
		}
		for _, ref := range out.Blocked.Dependents {
			if _, is := j.Health.Overdue.Of(ref); !is || j.Of(all, ref) != nil {
				continue
			}
			if o, err := j.Server.Get(context.Background(), ref); err == nil {
				more = append(more, j.Tracks.Of(o))
			}
		}
	}
	for _, tr := range more {
		out := &Outcome{Track: tr, AlreadyHappening: !j.Collects}
		j.judgeBlocked(out)
		j.set(all, tr.First, out)
	}
}

// mayYetGo reports whether an overdue controller may still delete an object that nothing touched.
// Such an object is not known to stay.
func (j *Judge) mayYetGo(ref object.Ref) bool {
	if j.Health.Overdue == nil {
		return false
	}
	open := func(of object.Ref) bool {
		st, ok := j.Health.Overdue.Of(of)
		return ok && !st.Proven
	}
	if ref.Namespace != "" && open(NamespaceRef(ref.Namespace)) {
		return true
	}
	if res, err := j.Server.Resource(ref.APIVersion, ref.Kind); err == nil && open(j.Snap.RefTo(object.CRD, "", res.GroupResource().String())) {
		return true
	}
	owner := j.Health.Overdue.Owner(j.Server, ref)
	return owner != nil && open(owner.Ref)
}
