package engine

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Attempt is one object that has to be looked at, with what the collector knows
// of it at that moment. It is a value: it may be carried to another goroutine.
type Attempt struct {
	ID   graph.ID
	Work Work
	// Ref is the identity of the node when the attempt was handed out.
	Ref object.Ref
	// Virtual: no watch has shown the object yet.
	Virtual bool
	// BeingDeleted and WaitingForDependents are the node's one-way flags.
	BeingDeleted         bool
	WaitingForDependents bool
	// Observed is the object as last observed.
	Observed *object.Object
	// absent are the owners of Observed that are remembered as absent.
	absent Positions
	// elsewhere are those whose UIDs are observed under other coordinates than the
	// references name. Strict rules only, as observed: those whose UIDs are observed
	// where the references say.
	elsewhere, observed Positions

	// Economical attempts take Observed for the object as it is, and pin their
	// requests to it. See WithEconomy.
	Economical bool
	// Tries is how often in a row the server has refused that as outdated; the
	// object is read when it is not 0.
	Tries int
	// waiting are the owners of Observed that are known to wait.
	waiting Positions
}

// itemKnown reports whether the object need not be read.
func (a *Attempt) itemKnown() bool {
	return a.Economical && a.Tries == 0 && !a.Virtual && a.Observed.ResourceVersion != ""
}

// pin is what the requests of the attempt hold for.
func (a *Attempt) pin() Pin {
	switch {
	case !a.Economical:
		return Unpinned
	case a.Work == OrphanWork:
		return PinUID
	default:
		return PinVersion
	}
}

// settledAlready reports whether the attempt needs no request at all: an object
// that is being deleted and does not wait for dependents is nobody's business.
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem: step 1.
func (a *Attempt) settledAlready() bool {
	return a.Work == DeleteWork && a.BeingDeleted && !a.WaitingForDependents
}

// Next hands out the oldest ready attempt: of an owner to orphan once those were handed out of objects
// to delete that were ready before it. Upstream's workers take from both queues at the same time. Of
// what is ready at the start, orphaning comes first: it begins with a write, and a delete with reads
// of the object and its owners. (In 250 random worlds three collectors that start came to one end each
// in four in which this order decides, and it was this one.)
//
// Next first takes into the graph what requests have shown to be gone.
func (c *Collector) Next() (Attempt, bool) {
	c.TakeVanished()
	for {
		w := DeleteWork
		if c.orphanFirst() {
			w = OrphanWork
		}
		if c.queue(w).len() == 0 {
			return Attempt{}, false
		}
		if a, ok := c.NextOf(w, 0); ok {
			return a, true
		}
	}
}

// orphanFirst reports whether the next owner to orphan was ready before the next object to delete.
func (c *Collector) orphanFirst() bool {
	if c.toOrphan.len() == 0 {
		return false
	}
	return c.toDelete.len() == 0 || c.toDelete.taken >= c.orphanAfter[c.toOrphan.waiting()[0]]
}

// queueOrphan queues an owner whose dependents are to be orphaned, behind what is to be deleted already.
func (c *Collector) queueOrphan(id graph.ID) {
	if c.toDelete.taken > 0 {
		c.orphanAfter[id] = c.toDelete.added
	}
	c.toOrphan.add(id)
}

// NextOf hands out the i-th ready attempt of one kind of work, for drivers that
// choose the order themselves. It returns false when that node needs no attempt
// any more, which uses it up.
func (c *Collector) NextOf(w Work, i int) (Attempt, bool) {
	q := c.queue(w)
	if i == 0 {
		c.ahead.next(c.graph, q.waiting())
	}
	id := q.take(i)
	c.handedOut = id
	if len(c.alternates) > 0 {
		delete(c.alternates, id)
	}
	if w == DeleteWork && c.stale(id) {
		q.settle(id)
		c.free(id)
		return Attempt{}, false
	}
	if c.economical && c.pointless(w, id) {
		return Attempt{}, false
	}
	c.underWay++
	return c.attempt(w, id), true
}

// TakeVanished takes into the graph what requests have shown to be gone. Next
// does so itself; a driver that uses NextOf calls it before it chooses.
func (c *Collector) TakeVanished() {
	for len(c.vanished) > 0 {
		absent := c.vanished[0]
		c.vanished = c.vanished[1:]
		c.vanish(absent)
	}
}

// stale reports whether a virtual node has left the graph, or has been observed
// under another identity, since it was queued. An observed node that has left is
// still attempted, and found to be gone.
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteWorker.
func (c *Collector) stale(id graph.ID) bool {
	if !c.graph.Virtual(id) {
		return false
	}
	current, ok := c.graph.Find(c.graph.Identity(id).UID)
	return !ok || !c.graph.Virtual(current)
}

// about is an attempt with what the graph says of its object.
func (c *Collector) about(w Work, id graph.ID) Attempt {
	return Attempt{
		ID: id, Work: w,
		Ref:                  c.graph.Identity(id),
		Virtual:              c.graph.Virtual(id),
		BeingDeleted:         c.graph.BeingDeleted(id),
		WaitingForDependents: c.graph.WaitingForDependents(id),
		Observed:             c.graph.Object(id),
	}
}

func (c *Collector) attempt(w Work, id graph.ID) Attempt {
	a := c.about(w, id)
	a.Economical, a.Tries = c.economical, c.tries[id]
	if w == DeleteWork && !a.settledAlready() {
		c.noteOwners(&a)
	}
	return a
}

func (c *Collector) noteOwners(a *Attempt) {
	for i, ref := range a.Observed.Owners {
		if c.rules == Upstream && (c.absent.has(ref.In("")) || c.absent.has(ref.In(a.Ref.Namespace))) {
			a.absent.Add(i)
		}
		if c.rules == Strict {
			c.noteObserved(a, i, ref)
		}
		if c.economical && c.knownToWait(ref, a.Ref.Namespace) {
			a.waiting.Add(i)
		}
	}
}

// known reports whether the i-th live reference is in a set of the observed ones, where
// it mostly has the same place. References that say the same are in the same sets.
func (a *Attempt) known(set Positions, i int, ref *object.OwnerReference) bool {
	if set.Empty() {
		return false
	}
	if i >= len(a.Observed.Owners) || a.Observed.Owners[i] != *ref {
		i = slices.Index(a.Observed.Owners, *ref)
	}
	return i >= 0 && set.Has(i)
}
