package history

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Trace finds what was lost between two moments, and who took it.
//
// It lives through the history once more, change by change, and asks at the beginning of each
// deletion who would have deleted the object just then: the garbage collector, by the engine's
// own judgement; the namespace controller; the other controllers that delete for reasons which
// objects show. Only what none of them explains, or what none of them does in this way, is a
// request of somebody. Such a request is certain if nobody else can have made it: not the
// controller of the object, nobody who was not seen.
func Trace(p *Past) *Account {
	t := newTracer(p)
	for i := range t.changes {
		t.take(&t.changes[i])
	}
	return t.account()
}

// tracer is the state of one look back.
type tracer struct {
	past    *Past
	changes []Change
	world   *world
	// collector has seen what the garbage collector has seen.
	collector *engine.Collector
	followers []follower
	packs     map[hub]*pack

	losses   []Loss
	requests []Request
	senders  senders
	// lost are the indexes of the losses; last is the latest one of each place.
	lost map[identity]int
	last map[place]int
	// created and respecified are when objects were made, and when their spec was last changed.
	created, respecified map[types.UID]uint64
	// stamps tell when some of the changes were made.
	stamps []Moment
	// leaving are the pods that are asked to go at some time.
	leaving map[types.UID]bool
	// replaced are the pods in place of which others were made.
	replaced map[types.UID]bool
	// linked are when references were made.
	linked map[reference]uint64
	// waited are the objects that were once being deleted in the foreground, orphaning those
	// that were being deleted with the policy Orphan.
	waited, orphaning map[types.UID]bool
	// had are the finalizers of the collector that objects had at some time.
	had map[types.UID]trace
	// orphanedBy are the requests that have said so later than the deletion began.
	orphanedBy map[types.UID]int
	// vague are the ends of objects of which the revision is not known exactly.
	vague map[types.UID]*Change
	// byUID are all objects of the past, as they were first.
	byUID map[types.UID]*object.Object
	// now is the revision of the change that is judged.
	now uint64
}

func newTracer(p *Past) *tracer {
	changes := slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool { return c.Object == nil })
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.Revision, b.Revision) })
	t := &tracer{
		senders: sendersIn(p, changes),
		stamps:  stamped(changes), leaving: leavingOf(changes),
		past: p, changes: changes, world: worldAt(p, changes), collector: engine.New(), followers: followers(), packs: map[hub]*pack{},
		linked: map[reference]uint64{}, lost: map[identity]int{}, last: map[place]int{},
		created: map[types.UID]uint64{}, respecified: map[types.UID]uint64{},
		waited: map[types.UID]bool{}, orphaning: map[types.UID]bool{}, orphanedBy: map[types.UID]int{}, had: map[types.UID]trace{},
		vague: map[types.UID]*Change{}, byUID: map[types.UID]*object.Object{},
	}
	for i := range changes {
		o := changes[i].Object
		t.byUID[o.UID] = cmp.Or(t.byUID[o.UID], o)
	}
	for _, o := range slices.Concat(p.Standing, p.Elsewhere) {
		t.byUID[o.UID] = o
	}
	for i := range changes {
		if c := &changes[i]; c.After != 0 && c.Type == object.Deleted {
			t.vague[c.Object.UID] = c
		}
	}
	t.replaced = t.replacements()
	for _, o := range t.world.all() {
		t.observe(object.Event{Type: object.Added, Object: o})
		t.join(o)
	}
	return t
}

// reference is one to an owner.
type reference struct{ dependent, owner types.UID }

// observe shows a change to the collector, if it watches the kind.
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
	if r, err := t.world.resources.For(o.APIVersion, o.Kind); err == nil && t.world.resources.Monitored(r) {
		t.collector.Observe(e)
	}
}

// take judges a change in the world before it, and then lets it happen.
func (t *tracer) take(c *Change) {
	t.now = c.Revision
	at := placeOf(c.Object.Ref)
	before, known := t.world.find(at)
	if before != nil && before.UID != c.Object.UID {
		t.missed(before, c.Revision)
		before, known = nil, true
	}
	switch {
	case c.Unseen:
		t.unseen(c, before)
		return
	case c.Type == object.Deleted:
		t.deleted(c, latest(c, before))
	case before != nil:
		t.modified(c, latest(c, before))
	case c.Object.BeingDeleted():
		t.found(c)
	case c.Type == object.Added && known:
		t.created[c.Object.UID] = c.Revision
	}
	t.apply(c, before)
}

// latest is an object as it was just before a change: not every write is in the history.
func latest(c *Change, before *object.Object) *object.Object {
	switch {
	case c.Old != nil && identityOf(c.Old.Ref) == identityOf(c.Object.Ref):
		return c.Old
	case before == nil, c.Type == object.Deleted && !before.BeingDeleted() && !c.Object.BeingDeleted():
		return c.Object // it went as it was
	default:
		return before
	}
}

func (t *tracer) apply(c *Change, before *object.Object) {
	e := object.Event{Type: c.Type, Object: c.Object, Old: before}
	switch {
	case c.Type == object.Deleted:
		t.drop(c.Object)
		e.Old = nil
	case before == nil:
		t.world.put(c.Object)
		e.Type = object.Added
	default:
		t.world.put(c.Object)
		e.Type = object.Modified
	}
	t.observe(e)
	if c.Type != object.Deleted {
		t.link(c, before)
		t.join(c.Object)
	}
	switch e.Type {
	case object.Added:
		t.look(c.Object)
	case object.Modified:
		t.lookAgain(c.Object)
	default:
	}
}

// link notes the references that a change has made.
func (t *tracer) link(c *Change, before *object.Object) {
	for _, ref := range c.Object.Owners {
		if before == nil || !before.RefersTo(ref.UID) {
			t.linked[reference{c.Object.UID, ref.UID}] = c.Revision
		}
	}
}

// drop takes an object out of the world, before the eyes of those who follow it.
func (t *tracer) drop(o *object.Object) {
	t.look(o)
	t.world.drop(placeOf(o.Ref))
	t.world.absent[placeOf(o.Ref)] = true
	t.leave(o)
	t.look(o)
}

// unseen lets a write happen of which only is known what it has left.
func (t *tracer) unseen(c *Change, before *object.Object) {
	if c.Type != object.Deleted {
		if c.Object.BeingDeleted() && (before == nil || !before.BeingDeleted()) {
			t.found(c)
		}
		t.apply(c, before)
		return
	}
	if before != nil {
		t.missed(before, c.Revision)
	}
}

// missed notes the end of an object that nobody has shown.
func (t *tracer) missed(o *object.Object, revision uint64) {
	if i, ok := t.lost[identityOf(o.Ref)]; ok {
		t.losses[i].Gone = revision
	} else {
		t.lose(Loss{Object: o, Asked: revision, Gone: revision, Cause: Cause{Code: Unseen, Request: -1}, Or: []Cause{{Code: Requested, Request: -1}}})
	}
	t.drop(o)
	t.observe(object.Event{Type: object.Deleted, Object: o})
}

func (t *tracer) deleted(c *Change, before *object.Object) {
	i, ok := t.lost[identityOf(before.Ref)]
	switch {
	case ok:
	case before.BeingDeleted():
		i = t.lose(Loss{Object: before, Policy: traceOf(before).policy(), Cause: Cause{Code: Before, Request: -1}})
	default:
		i = t.ask(before, c, leftBy(before, c.Object))
	}
	t.losses[i].Gone = c.Revision
}

func (t *tracer) modified(c *Change, before *object.Object) {
	now := c.Object
	i, ok := t.lost[identityOf(before.Ref)]
	switch {
	case before.BeingDeleted():
		if !ok {
			i = t.lose(Loss{Object: before, Policy: traceOf(before).policy(), Cause: Cause{Code: Before, Request: -1}})
		}
		t.askAgain(i, before, now, c.Revision)
	case now.BeingDeleted():
		t.ask(before, c, leftBy(before, now))
	default:
		t.release(before, now, c.Revision)
		if now.Generation != before.Generation {
			t.respecified[now.UID] = c.Revision
		}
	}
}

// found notes an object that is being deleted when it is first seen.
func (t *tracer) found(c *Change) {
	o := c.Object
	if _, ok := t.lost[identityOf(o.Ref)]; ok {
		return
	}
	loss := Loss{Object: o, Policy: traceOf(o).policy(), Cause: Cause{Code: Before, Request: -1}}
	if began := t.past.From.Time; began == 0 || o.Deleted() >= began {
		loss.Cause.Code = Unseen
		loss.Or = []Cause{{Code: Before, Request: -1}, {Code: Requested, Request: -1}}
	}
	t.lose(loss)
}

// ask notes a deletion that begins, and who asked for it.
func (t *tracer) ask(o *object.Object, c *Change, left trace) int {
	revision := c.Before() + 1 // the earliest that it can have been
	loss := Loss{Object: o, Asked: revision, Policy: left.policy()}
	e := t.explainBetween(o, left, c)
	if t.world.guessed[identityOf(o.Ref)] && (e.asked || left != trace{}) {
		// Which of its finalizers the delete has set was not seen.
		e.or = append(e.or, Cause{Code: Unseen, Request: -1})
	}
	if e = t.hear(e, o, c, left); e.sent != nil && t.world.guessed[identityOf(o.Ref)] {
		loss.Policy = policySaid(e.sent, loss.Policy)
	}
	i := t.lose(loss)
	l := &t.losses[i]
	l.Cause, l.Or, l.Sent, l.Match, l.Contradicts = e.cause, e.or, e.sent, e.match, e.contradicts
	if !e.asked {
		return i
	}
	if e.cause.Code != Requested {
		e.sent = nil // that of whoever else it may have been
	}
	l.Cause.Request = t.request(i, revision, loss.Policy, len(e.or) == 0 && e.cause.Code == Requested, e.sent)
	for k := range l.Or {
		if l.Or[k].Code == Requested {
			l.Or[k].Request = l.Cause.Request
		}
	}
	return i
}

func (t *tracer) lose(l Loss) int {
	i := len(t.losses)
	t.losses = append(t.losses, l)
	if !l.Orphaned {
		t.lost[identityOf(l.Object.Ref)] = i
		t.last[placeOf(l.Object.Ref)] = i
	}
	return i
}

// account puts the losses into the order in which they began.
func (t *tracer) account() *Account {
	order := make([]int, len(t.losses))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.losses[a].Asked, t.losses[b].Asked) })
	a := &Account{Past: t.timed(), Losses: make([]Loss, len(order)), Requests: t.requests}
	moved := make([]int, len(order))
	for to, from := range order {
		a.Losses[to], moved[from] = t.losses[from], to
		if k := t.losses[from].Cause.Request; k >= 0 {
			a.Requests[k].Took++
		}
	}
	for k := range a.Requests {
		for i, from := range a.Requests[k].Losses {
			a.Requests[k].Losses[i] = moved[from]
		}
	}
	return a
}
