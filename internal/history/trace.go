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

	losses   []Loss
	requests []Request
	// lost are the indexes of the losses; last is the latest one of each place.
	lost map[identity]int
	last map[place]int
	// created and respecified are when objects were made, and when their spec was last changed.
	created, respecified map[types.UID]uint64
	// waited are the objects that were once being deleted in the foreground, orphaning those
	// that were being deleted with the policy Orphan.
	waited, orphaning map[types.UID]bool
	// had are the finalizers of the collector that objects had at some time.
	had map[types.UID]trace
	// orphanedBy are the requests that have said so later than the deletion began.
	orphanedBy map[types.UID]int
}

func newTracer(p *Past) *tracer {
	changes := slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool { return c.Object == nil })
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.Revision, b.Revision) })
	t := &tracer{
		past: p, changes: changes, world: worldAt(p, changes), collector: engine.New(), followers: followers(),
		lost: map[identity]int{}, last: map[place]int{},
		created: map[types.UID]uint64{}, respecified: map[types.UID]uint64{},
		waited: map[types.UID]bool{}, orphaning: map[types.UID]bool{}, orphanedBy: map[types.UID]int{}, had: map[types.UID]trace{},
	}
	for _, o := range t.world.all() {
		t.observe(object.Event{Type: object.Added, Object: o})
	}
	for i := range t.followers {
		t.followers[i].look(t.world)
	}
	return t
}

// observe shows a change to the collector, if it watches the kind.
func (t *tracer) observe(e object.Event) {
	o := e.Object
	if had, has := t.had[o.UID], traceOf(o); had != has {
		t.had[o.UID] = trace{had.orphan || has.orphan, had.foreground || has.foreground}
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
	at := placeOf(c.Object.Ref)
	before, known := t.world.find(at)
	if before != nil && before.UID != c.Object.UID {
		t.missed(before, c.Revision)
		before, known = nil, true
	}
	switch {
	case c.Type == object.Deleted:
		t.deleted(c, before)
	case before != nil:
		t.modified(c, before)
	case c.Object.BeingDeleted():
		t.found(c)
	case c.Type == object.Added && known:
		t.created[c.Object.UID] = c.Revision
	}
	t.apply(c, before)
}

func (t *tracer) apply(c *Change, before *object.Object) {
	at := placeOf(c.Object.Ref)
	e := object.Event{Type: c.Type, Object: c.Object, Old: before}
	switch {
	case c.Type == object.Deleted:
		t.world.drop(at)
		t.world.absent[at] = true
		e.Old = nil
	case before == nil:
		t.world.put(c.Object)
		e.Type = object.Added
	default:
		t.world.put(c.Object)
		e.Type = object.Modified
	}
	t.observe(e)
	if e.Type != object.Modified {
		t.follow(at)
	}
}

// missed notes the end of an object that nobody has shown: another one has its name.
func (t *tracer) missed(o *object.Object, revision uint64) {
	if i, ok := t.lost[identityOf(o.Ref)]; ok {
		t.losses[i].Gone = revision
	} else {
		t.lose(Loss{Object: o, Asked: revision, Gone: revision, Cause: Cause{Code: Unseen, Request: -1}, Or: []Cause{{Code: Requested, Request: -1}}})
	}
	t.world.drop(placeOf(o.Ref))
	t.observe(object.Event{Type: object.Deleted, Object: o})
}

func (t *tracer) deleted(c *Change, before *object.Object) {
	if before == nil {
		before = c.Object
	}
	i, ok := t.lost[identityOf(before.Ref)]
	switch {
	case ok:
	case before.BeingDeleted():
		i = t.lose(Loss{Object: before, Policy: traceOf(before).policy(), Cause: Cause{Code: Before, Request: -1}})
	default:
		left := trace{}
		if c.Object.BeingDeleted() {
			left = traceOf(c.Object)
		}
		i = t.ask(before, c.Revision, left)
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
		t.ask(before, c.Revision, traceOf(now))
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
func (t *tracer) ask(o *object.Object, revision uint64, left trace) int {
	loss := Loss{Object: o, Asked: revision, Policy: left.policy()}
	e := t.explain(o, left, revision)
	if t.world.guessed[identityOf(o.Ref)] && (e.asked || left != trace{}) {
		// Which of its finalizers the delete has set was not seen.
		e.or = append(e.or, Cause{Code: Unseen, Request: -1})
	}
	i := t.lose(loss)
	l := &t.losses[i]
	l.Cause, l.Or = e.cause, e.or
	if !e.asked {
		return i
	}
	l.Cause.Request = t.request(i, revision, loss.Policy, len(e.or) == 0 && e.cause.Code == Requested)
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
	a := &Account{Past: t.past, Losses: make([]Loss, len(order)), Requests: t.requests}
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
