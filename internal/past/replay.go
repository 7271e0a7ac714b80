package past

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Trace finds what was lost between two moments, and attributes it.
//
// It replays the history, change by change. At the beginning of each deletion it asks which
// controllers would have deleted the object just then: the garbage collector, by the engine's own
// decision; the namespace controller; the other controllers with visible reasons. A deletion that
// none of them explains, or not with this policy, is a client's request. It is certain if nothing
// else is possible: neither the controller of the object, nor anything that was not seen.
func Trace(p *Record) *Account {
	t := newTracer(p)
	for i := range t.changes {
		t.process(&t.changes[i])
	}
	return t.buildAccount()
}

// tracer is the state of one replay.
type tracer struct {
	past    *Record
	changes []Change
	state   *clusterState
	// collector has the state of the garbage collector's graph.
	collector  *engine.Collector
	rules      []implicitOwnerRule
	dependents map[dependentsKey]*dependentSet

	losses   []Loss
	requests []Request
	logged   requestIndex
	// lost has the index of each object's loss, last that of the latest loss at its coordinates.
	lost map[identity]int
	last map[object.Coordinates]int
	// created and specChanged are the revisions of creations, and of the last changes of a spec.
	created, specChanged map[types.UID]uint64
	// times are the changes with a known time.
	times []Moment
	// deletedPods are the pods with a deletion that begins at any time in the history.
	deletedPods map[types.UID]bool
	// replaced are the pods that a ReplicaSet has replaced.
	replaced map[types.UID]bool
	// linked has the revision that added each owner reference.
	linked map[reference]uint64
	// waited are the objects that were being deleted in the foreground at some time, orphaning
	// those with the policy Orphan.
	waited, orphaning map[types.UID]bool
	// had are the collector's finalizers that objects had at some time.
	had map[types.UID]trace
	// orphanedBy are the requests that added the policy Orphan after the deletion began.
	orphanedBy map[types.UID]int
	// inexact are the deletions without an exact revision.
	inexact map[types.UID]*Change
	// byUID has the first state of all objects of the past.
	byUID map[types.UID]*object.Object
	// now is the revision of the current change.
	now uint64
}

func newTracer(p *Record) *tracer {
	changes := slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool { return c.Object == nil })
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.Revision, b.Revision) })
	t := &tracer{
		logged: indexRequests(p, changes),
		times:  timedChanges(changes), deletedPods: podsDeletedIn(changes),
		past: p, changes: changes, state: initialState(p, changes), collector: engine.New(), rules: implicitOwnerRules(), dependents: map[dependentsKey]*dependentSet{},
		linked: map[reference]uint64{}, lost: map[identity]int{}, last: map[object.Coordinates]int{},
		created: map[types.UID]uint64{}, specChanged: map[types.UID]uint64{},
		waited: map[types.UID]bool{}, orphaning: map[types.UID]bool{}, orphanedBy: map[types.UID]int{}, had: map[types.UID]trace{},
		inexact: map[types.UID]*Change{}, byUID: map[types.UID]*object.Object{},
	}
	for i := range changes {
		o := changes[i].Object
		t.byUID[o.UID] = cmp.Or(t.byUID[o.UID], o)
	}
	for _, o := range slices.Concat(p.Unchanged, p.ForeignOwners) {
		t.byUID[o.UID] = o
	}
	for i := range changes {
		if c := &changes[i]; c.After != 0 && c.Type == object.Deleted {
			t.inexact[c.Object.UID] = c
		}
	}
	t.replaced = t.findReplaced()
	for _, o := range t.state.Objects() {
		t.observe(object.Event{Type: object.Added, Object: o})
		t.addDependent(o)
	}
	return t
}

// reference is an owner reference.
type reference struct{ dependent, owner types.UID }

// observe passes a change to the collector, if it watches the kind.
func (t *tracer) observe(e object.Event) {
	o := e.Object
	if had, has := t.had[o.UID], traceOf(o); had != has {
		t.had[o.UID] = trace{orphan: had.orphan || has.orphan, foreground: had.foreground || has.foreground}
	}
	if o.WaitingForDependents() {
		t.waited[o.UID] = true
	}
	if o.BeingDeleted() && o.HasFinalizer(object.Orphan) {
		t.orphaning[o.UID] = true
	}
	if r, err := t.state.resources.For(o.APIVersion, o.Kind); err == nil && t.state.resources.Monitored(r) {
		t.collector.Observe(e)
	}
}

// process attributes a change by the state before it, and then applies it.
func (t *tracer) process(c *Change) {
	t.now = c.Revision
	at := c.Object.Ref.Coordinates()
	before, known := t.state.find(at)
	if before != nil && before.UID != c.Object.UID {
		t.recordMissed(before, c.Revision)
		before, known = nil, true
	}
	switch {
	case c.Unseen:
		t.applyInferred(c, before)
		return
	case c.Type == object.Deleted:
		t.recordDeleted(c, stateBefore(c, before))
	case before != nil:
		t.recordModified(c, stateBefore(c, before))
	case c.Object.BeingDeleted():
		t.recordFound(c)
	case c.Type == object.Added && known:
		t.created[c.Object.UID] = c.Revision
	}
	t.apply(c, before)
}

// stateBefore returns an object just before a change. Not every write is in the history.
func stateBefore(c *Change, before *object.Object) *object.Object {
	switch {
	case c.Old != nil && identityOf(c.Old.Ref) == identityOf(c.Object.Ref):
		return c.Old
	case before == nil, c.Type == object.Deleted && !before.BeingDeleted() && !c.Object.BeingDeleted():
		return c.Object // removed without a further change
	default:
		return before
	}
}

func (t *tracer) apply(c *Change, before *object.Object) {
	e := object.Event{Type: c.Type, Object: c.Object, Old: before}
	switch {
	case c.Type == object.Deleted:
		t.remove(c.Object)
		e.Old = nil
	case before == nil:
		t.state.put(c.Object)
		e.Type = object.Added
	default:
		t.state.put(c.Object)
		e.Type = object.Modified
	}
	t.observe(e)
	if c.Type != object.Deleted {
		for _, ref := range c.Object.Owners {
			if before == nil || !before.RefersTo(ref.UID) {
				t.linked[reference{c.Object.UID, ref.UID}] = c.Revision
			}
		}
		t.addDependent(c.Object)
	}
	switch e.Type {
	case object.Added:
		t.runControllers(c.Object)
	case object.Modified:
		t.rerunControllers(c.Object)
	default:
	}
}

// remove removes an object from the state. It runs the controllers of its dependents before and
// after.
func (t *tracer) remove(o *object.Object) {
	t.runControllers(o)
	t.state.drop(o.Ref.Coordinates())
	t.state.absent[o.Ref.Coordinates()] = true
	t.removeDependent(o)
	t.runControllers(o)
}

// applyInferred applies an inferred write. Only its result is known.
func (t *tracer) applyInferred(c *Change, before *object.Object) {
	if c.Type != object.Deleted {
		if c.Object.BeingDeleted() && (before == nil || !before.BeingDeleted()) {
			t.recordFound(c)
		}
		t.apply(c, before)
		return
	}
	if before != nil {
		t.recordMissed(before, c.Revision)
	}
}

// recordMissed records the removal of an object that no change shows.
func (t *tracer) recordMissed(o *object.Object, revision uint64) {
	if i, ok := t.lost[identityOf(o.Ref)]; ok {
		t.losses[i].Gone = revision
	} else {
		t.addLoss(Loss{
			Object: o, Began: revision, Gone: revision, Policy: background,
			Cause: Cause{Code: reason.Unseen, Request: -1}, Or: []Cause{{Code: reason.Requested, Request: -1}},
		})
	}
	t.remove(o)
	t.observe(object.Event{Type: object.Deleted, Object: o})
}

func (t *tracer) recordDeleted(c *Change, before *object.Object) {
	i, ok := t.lost[identityOf(before.Ref)]
	switch {
	case ok:
	case before.BeingDeleted():
		i = t.addLoss(Loss{Object: before, Policy: traceOf(before).policy(), Cause: Cause{Code: reason.Before, Request: -1}})
	default:
		i = t.recordDeletion(before, c, traceBetween(before, c.Object))
	}
	t.losses[i].Gone = c.Revision
}

func (t *tracer) recordModified(c *Change, before *object.Object) {
	now := c.Object
	i, ok := t.lost[identityOf(before.Ref)]
	switch {
	case before.BeingDeleted():
		if !ok {
			i = t.addLoss(Loss{Object: before, Policy: traceOf(before).policy(), Cause: Cause{Code: reason.Before, Request: -1}})
		}
		t.recordRepeatedDelete(i, before, now, c.Revision)
	case now.BeingDeleted():
		t.recordDeletion(before, c, traceBetween(before, now))
	default:
		t.recordReleased(before, now, c.Revision)
		if now.Generation != before.Generation {
			t.specChanged[now.UID] = c.Revision
		}
	}
}

// recordFound records an object that is being deleted when it is first seen.
func (t *tracer) recordFound(c *Change) {
	o := c.Object
	if _, ok := t.lost[identityOf(o.Ref)]; ok {
		return
	}
	loss := Loss{Object: o, Policy: traceOf(o).policy(), Cause: Cause{Code: reason.Before, Request: -1}}
	if began := t.past.From.Time; began == 0 || o.Deleted() >= began {
		loss.Cause.Code = reason.Unseen
		loss.Or = []Cause{{Code: reason.Before, Request: -1}, {Code: reason.Requested, Request: -1}}
	}
	t.addLoss(loss)
}

// recordDeletion records the beginning of a deletion and its cause.
func (t *tracer) recordDeletion(o *object.Object, c *Change, left trace) int {
	revision := c.Before() + 1 // the earliest possible revision
	loss := Loss{Object: o, Began: revision, Policy: left.policy()}
	e := t.explainInRange(o, left, c)
	if t.state.inferred[identityOf(o.Ref)] && (e.byClient || left != trace{}) {
		// Which of its finalizers the delete has set is unknown.
		e.alternatives = append(e.alternatives, Cause{Code: reason.Unseen, Request: -1})
	}
	if e = t.applyAuditLog(e, o, c, left); e.sent != nil && t.state.inferred[identityOf(o.Ref)] {
		loss.Policy = requestedPolicy(e.sent, loss.Policy)
	}
	i := t.addLoss(loss)
	l := &t.losses[i]
	l.Cause, l.Or, l.Sent, l.Match, l.Contradicts = e.cause, e.alternatives, e.sent, e.match, e.contradicts
	if !e.byClient {
		return i
	}
	if e.cause.Code != reason.Requested {
		e.sent = nil // the request belongs to the other possible cause
	}
	l.Cause.Request = t.addRequest(i, revision, loss.Policy, len(e.alternatives) == 0 && e.cause.Code == reason.Requested, e.sent)
	for k := range l.Or {
		if l.Or[k].Code == reason.Requested {
			l.Or[k].Request = l.Cause.Request
		}
	}
	return i
}

func (t *tracer) addLoss(l Loss) int {
	i := len(t.losses)
	t.losses = append(t.losses, l)
	if !l.Orphaned {
		t.lost[identityOf(l.Object.Ref)] = i
		t.last[l.Object.Ref.Coordinates()] = i
	}
	return i
}

// buildAccount sorts the losses by their beginning.
func (t *tracer) buildAccount() *Account {
	order := make([]int, len(t.losses))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.losses[a].Began, t.losses[b].Began) })
	a := &Account{Past: t.withLogTimes(), Losses: make([]Loss, len(order)), Requests: t.requests}
	moved := make([]int, len(order))
	for to, from := range order {
		a.Losses[to], moved[from] = t.losses[from], to
		if k := t.losses[from].Cause.Request; k >= 0 {
			a.Requests[k].Explains++
		}
	}
	for k := range a.Requests {
		for i, from := range a.Requests[k].Losses {
			a.Requests[k].Losses[i] = moved[from]
		}
	}
	return a
}

// recordReleased records owner references that an object has lost. If the garbage collector has no
// reason to remove them, a client has written the object, and nothing is lost.
func (t *tracer) recordReleased(before, now *object.Object, revision uint64) {
	dropped := object.Filtered(before.Owners, func(ref object.OwnerReference) bool { return !now.RefersTo(ref.UID) })
	if len(dropped) == 0 {
		return
	}
	loss := Loss{Object: before, Began: revision, Orphaned: true, Cause: Cause{Request: -1}}
	for _, ref := range dropped {
		owner := t.resolve(ref.In(before.Namespace))
		x, known := t.state.find(owner.Coordinates())
		absent := x == nil && known || x != nil && x.UID != ref.UID
		request, _ := t.deletionBegan(owner)
		switch {
		case t.orphaning[ref.UID]:
			if again, ok := t.orphanedBy[ref.UID]; ok {
				request = again
			}
			loss.Cause = Cause{reason.OwnerOrphans, owner, request}
		case len(now.Owners) > 0 && (absent || t.waited[ref.UID]):
			if loss.Cause.Code == "" {
				loss.Cause = Cause{reason.ReferenceRemoved, owner, request}
			}
		default:
			continue
		}
		loss.Owners = append(loss.Owners, owner)
	}
	if len(loss.Owners) > 0 {
		t.addLoss(loss)
	}
}

// recordRepeatedDelete records another delete of an object that is being deleted: only a DELETE can
// add the collector's finalizers to it. If the object has owners, the delete may be a late one of
// the garbage collector, which uses the policy of the object's finalizers, or Foreground for a
// waiting owner.
func (t *tracer) recordRepeatedDelete(i int, before, now *object.Object, revision uint64) {
	had, has := traceOf(before), traceOf(now)
	first := t.losses[i].Object
	seen := !first.BeingDeleted() && !t.state.inferred[identityOf(first.Ref)] // the state before any delete
	switch {
	case has.orphan && !had.orphan:
		sent := t.findRepeatedDelete(now, revision, orphan)
		certain := sent != nil || len(first.Owners) == 0 || seen && !first.HasFinalizer(object.Orphan)
		t.orphanedBy[now.UID] = t.addRequest(i, revision, orphan, certain, sent)
		for i := range t.losses { // the collector may have meant to release them, and a client deleted them
			if l := &t.losses[i]; l.Cause.Code == reason.OwnerWaits && l.Cause.By == now.Ref && len(l.Or) == 0 {
				l.Or = []Cause{{Code: reason.Requested, Request: -1}}
			}
		}
	case has.foreground && !had.foreground && len(first.Owners) == 0:
		t.addRequest(i, revision, foreground, true, t.findRepeatedDelete(now, revision, foreground))
	}
}
