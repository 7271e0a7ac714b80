package engine

import (
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Settle records the outcome of an attempt: the state of owners, vanished objects, the blockers of
// a foreground deletion, and whether the attempt is repeated.
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go processAttemptToDeleteWorker,
// attemptToDeleteWorker, attemptToOrphanWorker.
func (c *Collector) Settle(out Outcome) { c.settle(&out) }

func (c *Collector) settle(out *Outcome) {
	d := &out.Decision
	c.underWay--
	c.noteSent(out)
	for i := range d.Owners {
		if o := &d.Owners[i]; o.Class == Dangling && o.Evidence != Remembered {
			c.remember(o.Ref)
		} else if c.economical && o.Class == Waiting && o.Live != nil {
			c.waits[o.Live.Ref] = true
		}
	}
	if c.rules == Strict {
		c.rejoin(d)
	}
	for _, id := range d.Blockers {
		// Upstream also queues those that are being deleted, without effect. With many of them that
		// is most of its work.
		if c.graph.Present(id) && !c.graph.WaitingForDependents(id) && !c.graph.BeingDeleted(id) {
			c.toDelete.add(id)
		}
	}
	a := &d.Attempt
	q := c.queue(a.Work)
	switch out.Disposition {
	case Vanish:
		c.vanished = append(c.vanished, a.Ref)
		delete(q.failures, a.ID)
	case Defer:
		q.postpone(a.ID)
		q.failed(a.ID)
	case Forget:
		delete(q.failures, a.ID)
	case Again:
		q.add(a.ID)
	}
	if c.economical {
		delete(c.tries, a.ID)
		if out.Disposition == Again && out.Err != nil {
			c.tries[a.ID] = a.Tries + 1
		}
	}
	q.settle(a.ID)
	c.free(a.ID)
}

// rejoin links an object to owners that were found but are not linked in the graph: a watch
// reported them deleted, wrongly or before a restore created them again. Otherwise their orphaning
// would miss the object, and their foreground deletion wouldn't wait for it. Upstream doesn't do
// this.
func (c *Collector) rejoin(d *Decision) {
	id := d.Attempt.ID
	if d.Attempt.Work != DeleteWork || !c.graph.Present(id) || c.graph.Virtual(id) {
		return
	}
	for i := range d.Owners {
		o := &d.Owners[i]
		if o.Live == nil || o.Live.UID != o.Reference.UID || !c.graph.Object(id).RefersTo(o.Reference.UID) {
			continue
		}
		if owner, known := c.graph.Find(o.Reference.UID); known {
			c.graph.Link(id, owner)
		} else {
			c.link(id, []object.OwnerReference{o.Reference})
		}
	}
}

// Wake makes deferred attempts ready: those of the given identities, or all if there are none.
// Drivers call it after a back-off, or after a change that may let them succeed.
func (c *Collector) Wake(refs ...object.Ref) {
	match := func(id graph.ID) bool {
		c.doubt(id)
		return true
	}
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

// wakeOne makes one deferred attempt ready.
func (c *Collector) wakeOne(w Work, id graph.ID) { c.queue(w).wakeOne(id, c.free) }

// DeferredCount returns the number of deferred attempts.
func (c *Collector) DeferredCount() int { return c.toDelete.sleeping + c.toOrphan.sleeping }
