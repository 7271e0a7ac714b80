package engine

import (
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Settle takes the outcome of an attempt back: what was learned about owners,
// what has vanished, whom a foreground deletion waits for, and whether the
// attempt comes again.
func (c *Collector) Settle(out Outcome) {
	d := out.Decision
	for i := range d.Owners {
		if o := &d.Owners[i]; o.Class == Dangling && o.Evidence != Remembered {
			c.remember(o.Ref)
		}
	}
	for _, id := range d.Blockers {
		// Upstream queues those that are being deleted, too, and then does nothing
		// about them: with many of them that is most of what it does.
		if c.graph.Present(id) && !c.graph.WaitingForDependents(id) && !c.graph.BeingDeleted(id) {
			c.toDelete.add(id)
		}
	}
	a := d.Attempt
	q := c.queue(a.Work)
	switch out.Fate {
	case Vanish:
		c.vanished = append(c.vanished, a.Ref)
	case Defer:
		q.postpone(a.ID)
	case Forget:
	}
	q.settle(a.ID)
	c.free(a.ID)
}

// Wake makes deferred attempts ready: those of the given identities, or all of
// them when none is given. Drivers call it when a back-off has passed or when
// something changed that may let them succeed.
func (c *Collector) Wake(refs ...object.Ref) {
	match := func(graph.ID) bool { return true }
	if len(refs) > 0 {
		wanted := make(map[object.Ref]bool, len(refs))
		for _, ref := range refs {
			wanted[ref] = true
		}
		match = func(id graph.ID) bool { return wanted[c.graph.Identity(id)] }
	}
	c.toDelete.wake(match)
	c.toOrphan.wake(match)
}

// DeferredCount is the number of attempts that wait to be woken.
func (c *Collector) DeferredCount() int { return len(c.toDelete.later) + len(c.toOrphan.later) }
