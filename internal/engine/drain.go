package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// World is an API whose changes can be followed without waiting: a simulated
// server.
type World interface {
	API
	// Events hands over what happened since the last call.
	Events() []object.Event
	// Writes counts changes of what is stored.
	Writes() uint64
}

// Follow is told what a driver does; nil functions are skipped. The lists of a decision hold
// until the function returns: Drain has the next attempt write over them.
type Follow struct {
	// Decided is called between Decide and Act.
	Decided func(Decision)
	// Settled is called after Act.
	Settled func(Outcome)
	// Idle is called when no attempt is ready and waking the deferred ones has
	// changed nothing: the rest of the world may act. It returns whether it did.
	Idle func() bool
}

// attemptsPerNode bounds the number of attempts without a change of the world,
// and the number of changes, to turn a mistake of the model into an error instead
// of a hang (spec §11.4). A bound of all attempts would be wrong: an owner
// with many dependents that stay is looked at, and has them looked at, each time
// another one goes.
const attemptsPerNode = 50

// Drain runs the collector over a world until both are quiescent: no event, no
// ready attempt, and every deferred attempt has been tried since the last change
// without effect. What is deferred then is stuck for good; the collector lists
// it.
//
// It is the sequential driver: events first, then one attempt, in a fixed order.
func Drain(ctx context.Context, c *Collector, w World, follow Follow) error {
	d := drainer{c: c, w: w, writer: served{w}, follow: follow}
	return d.run(ctx)
}

type drainer struct {
	c      *Collector
	w      World
	writer writer // the same
	follow Follow
	// owners and requests have room for the lists of the next attempt: there are millions.
	owners   []OwnerFact
	requests []Request
	// attempts since the world last changed, which was when it had seen so many
	// writes; and how often it has changed.
	attempts  int
	changedAt uint64
	changes   int
	// largest is the largest number of nodes seen.
	largest int
	// wokenAt is the number of writes when the deferred attempts were last woken, and alternates
	// are the identities that were woken since because they had not been tried.
	wokenAt    uint64
	woken      bool
	alternates map[object.Ref]bool
}

func (d *drainer) run(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, e := range d.w.Events() {
			d.c.Observe(e)
		}
		if a, ok := d.c.Next(); ok {
			if err := d.attempt(ctx, a); err != nil {
				return err
			}
			continue
		}
		if !d.wake() && !d.idle() {
			return nil
		}
	}
}

func (d *drainer) attempt(ctx context.Context, a Attempt) error {
	if err := d.count(a); err != nil {
		return err
	}
	facts := Facts{Attempt: a, Owners: d.owners[:0], room: d.requests[:0]}
	facts.ask(ctx, d.w, d.c.rules, false)
	out := Outcome{Decision: d.c.decide(&facts)}
	if d.follow.Decided != nil {
		d.follow.Decided(out.Decision)
	}
	out.act(ctx, d.writer)
	d.c.settle(&out)
	if d.follow.Settled != nil {
		d.follow.Settled(out)
	}
	d.owners = facts.Owners
	if a.Work == DeleteWork {
		d.requests = out.Decision.Requests
	}
	return nil
}

func (d *drainer) count(a Attempt) error {
	if writes := d.w.Writes(); writes != d.changedAt {
		d.attempts, d.changedAt = 0, writes
		d.changes++
	}
	d.attempts++
	d.largest = max(d.largest, d.c.graph.Len())
	if limit := attemptsPerNode * (d.largest + 100); d.attempts > limit || d.changes > limit {
		return fmt.Errorf("no end after %d changes and %d attempts, the last one for %s: please report this", d.changes, d.attempts, a.Ref)
	}
	return nil
}

// wake tries the deferred attempts again once after every change.
func (d *drainer) wake() bool {
	if d.c.DeferredCount() == 0 {
		return false
	}
	if d.woken && d.wokenAt == d.w.Writes() {
		return d.wakeAlternates()
	}
	d.woken, d.wokenAt, d.alternates = true, d.w.Writes(), map[object.Ref]bool{}
	d.c.Wake()
	return true
}

// wakeAlternates tries the identities that came up after that. References can contradict each
// other without end, so each of them has one turn.
func (d *drainer) wakeAlternates() bool {
	var due []object.Ref
	for id := range d.c.alternates {
		if ref := d.c.graph.Identity(id); !d.alternates[ref] {
			d.alternates[ref] = true
			due = append(due, ref)
		}
	}
	if len(due) == 0 {
		return false
	}
	d.c.Wake(due...)
	return true
}

func (d *drainer) idle() bool { return d.follow.Idle != nil && d.follow.Idle() }
