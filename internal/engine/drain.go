package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// World is an API with changes that can be read without waiting: a simulated server.
type World interface {
	API
	// Events returns the events since the last call.
	Events() []object.Event
	// Writes returns the number of stored changes.
	Writes() uint64
}

// Follow has callbacks for the steps of a driver; nil ones are skipped. The lists of a decision are
// valid until the callback returns: Drain reuses them for the next attempt.
type Follow struct {
	// Decided is called between Decide and Act.
	Decided func(Decision)
	// Settled is called after Act.
	Settled func(Outcome)
	// Idle is called when no attempt is ready and waking the deferred ones has changed nothing. It
	// lets the rest of the world act and returns whether it did.
	Idle func() bool
}

// attemptsPerNode bounds the attempts without a change of the world, and the changes, per node. It
// turns a mistake of the model into an error instead of a hang (spec §11.4). A bound of all
// attempts would be wrong: an owner with many dependents that stay, and the dependents, are
// attempted each time another one is deleted.
const attemptsPerNode = 50

// Drain runs the collector over a world until both are quiescent: there is no event and no ready
// attempt, and every deferred attempt was repeated without effect since the last change. The
// attempts that are still deferred then are stuck; Deferred lists them.
//
// Drain is sequential: all events first, then one attempt, in a fixed order.
func Drain(ctx context.Context, c *Collector, w World, follow Follow) error {
	d := drainer{c: c, w: w, writer: served{w}, follow: follow}
	return d.run(ctx)
}

type drainer struct {
	c      *Collector
	w      World
	writer writer // w as a writer
	follow Follow
	// owners and requests are reused for the lists of each attempt: there are millions.
	owners   []OwnerFact
	requests []Request
	// attempts is the number of attempts since the world last changed, changedAt the number of its
	// writes then, and changes how often it has changed.
	attempts  int
	changedAt uint64
	changes   int
	// largest is the largest number of nodes so far.
	largest int
	// wokenAt is the number of writes when the deferred attempts were last woken, if they ever were
	// (woken). alternates are the alternate identities that were woken since then.
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

// count counts an attempt. It returns an error if the world does not seem to come to rest: see
// attemptsPerNode.
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

// wake wakes the deferred attempts once after every change of the world. It returns false if it has
// woken none.
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

// wakeAlternates wakes the nodes with alternate identities that appeared since the last wake. Each
// identity is woken once, because references can contradict each other endlessly.
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
