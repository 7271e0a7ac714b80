package engine

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Observe applies one watch event to the graph and queues the affected nodes. The object's
// apiVersion and kind must be those of the watched resource.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go processGraphChanges,
// processTransitions, identityFromEvent.
// Rule: spec §3.5.
func (c *Collector) Observe(e object.Event) {
	id, known := c.graph.Find(e.Object.UID)
	if known && c.graph.Virtual(id) {
		id = c.firstSight(id, e.Object.Ref)
	}
	switch {
	case e.Type == object.Deleted && known:
		c.remove(id, e.Object.Ref)
	case e.Type == object.Deleted:
	case known:
		c.update(id, e)
	default:
		c.insert(e)
	}
}

// firstSight turns a virtual node into an observed one and returns its ID. If the node's guessed
// identity was wrong, the dependents that do not refer to the observed one are queued.
func (c *Collector) firstSight(id graph.ID, observed object.Ref) graph.ID {
	if observed != c.graph.Identity(id) {
		_, mismatched := c.graph.Partition(id, observed)
		for _, d := range mismatched {
			if observed.Namespace != "" && c.graph.Identity(d).Namespace != observed.Namespace {
				c.warn(d, observed)
			}
			c.toDelete.add(d)
		}
		old := id
		id = c.graph.Replace(old, observed)
		c.free(old)
	}
	c.graph.MarkObserved(id)
	return id
}

// insert adds a node for a new object. It links the node afterwards, because an object may own
// itself.
func (c *Collector) insert(e object.Event) {
	id := c.graph.Add(e.Object)
	c.link(id, e.Object.Owners)
	c.transition(id, e)
}

// update applies a new state of an observed object: its references are compared with the old ones.
func (c *Collector) update(id graph.ID, e object.Event) {
	change := graph.Compare(c.graph.Owners(id), e.Object.Owners)
	c.queueUnblocked(change)
	c.graph.Update(id, e.Object)
	if !change.Empty() {
		c.link(id, change.Added)
		for _, ref := range change.Removed {
			if owner, ok := c.graph.Find(ref.UID); ok {
				c.graph.Unlink(id, owner)
			}
		}
		if c.rules == Strict && len(change.Removed) > 0 && c.refersUnobserved(e.Object) {
			c.toDelete.add(id)
		}
	}
	c.shown(id)
	c.transition(id, e)
}

// refersUnobserved reports whether an object refers to an owner that no watch shows at the
// coordinates of the reference.
func (c *Collector) refersUnobserved(o *object.Object) bool {
	return slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool {
		owner, known := c.graph.Find(ref.UID)
		return !known || c.graph.Virtual(owner) || !named(ref, o.Namespace, c.graph.Identity(owner))
	})
}

// transition handles the start of a deletion with a finalizer of the collector. Orphaning wins if
// both finalizers appear in one event (Q20).
func (c *Collector) transition(id graph.ID, e object.Event) {
	switch {
	case starts(e, object.Orphan):
		c.queueOrphan(id)
	case starts(e, object.Foreground):
		c.graph.MarkWaiting(id)
		c.queueDependents(id)
		c.toDelete.add(id)
	}
}

// starts reports whether the event is the first that shows the object being deleted with the
// finalizer.
func starts(e object.Event, finalizer string) bool {
	return e.Object.BeingDeleted() && e.Object.HasFinalizer(finalizer) &&
		(e.Old == nil || !e.Old.BeingDeleted() || !e.Old.HasFinalizer(finalizer))
}

// remove removes the node and queues the affected nodes. absent is the identity of the deleted
// object, which may differ from the node's.
func (c *Collector) remove(id graph.ID, absent object.Ref) {
	if c.graph.DependentCount(id) > 0 {
		c.remember(absent)
		c.queueDependents(id)
	}
	owners := c.graph.Owners(id)
	c.graph.Remove(id)
	for _, ref := range owners {
		if owner, ok := c.graph.Find(ref.UID); ok && c.graph.WaitingForDependents(owner) {
			c.toDelete.add(owner)
		}
	}
	c.gone(id)
	c.free(id)
}

func (c *Collector) queueDependents(id graph.ID) {
	c.graph.EachDependent(id, func(d graph.ID) bool {
		c.toDelete.add(d)
		return true
	})
}

// queueUnblocked queues the owners that lost a blocking reference: they may be waiting for that.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go addUnblockedOwnersToDeleteQueue.
func (c *Collector) queueUnblocked(change graph.Change) {
	queue := func(ref object.OwnerReference) {
		if owner, ok := c.graph.Find(ref.UID); ok {
			c.toDelete.add(owner)
		}
	}
	for _, ref := range change.Removed {
		if ref.Blocks() {
			queue(ref)
		}
	}
	for _, pair := range change.Changed {
		if pair[0].Blocks() && !pair[1].Blocks() {
			queue(pair[1])
		}
	}
}

// link links a node to its owners. Owners that were not observed become virtual nodes and are
// queued to check their existence. A node with a reference that contradicts the known owner is
// queued itself; if its owners exist, the attempt has no effect.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go addDependentToOwners.
// Rule: spec §3.6.2.
func (c *Collector) link(id graph.ID, refs []object.OwnerReference) {
	suspicious := false
	namespace := c.graph.Identity(id).Namespace
	for _, ref := range refs {
		owner, known := c.graph.Find(ref.UID)
		if !known {
			owner = c.graph.AddVirtual(ref.In(namespace))
			c.graph.Link(id, owner)
			c.toDelete.add(owner)
			continue
		}
		c.graph.Link(id, owner)
		if suspicious {
			continue
		}
		identity := c.graph.Identity(owner)
		switch {
		case identity.Namespace != "" && identity.Namespace != namespace:
			suspicious = true
			if !c.graph.Virtual(owner) {
				c.warn(id, identity)
			}
		case !ref.Names(identity):
			suspicious = true
		case identity.Namespace != namespace && c.graph.Virtual(owner):
			// A virtual owner without a namespace may be a wrong guess.
			suspicious = true
		}
	}
	if suspicious {
		c.toDelete.add(id)
	}
}

// warn records upstream's event: the dependent's first reference with the owner's UID names no
// object in the dependent's namespace.
func (c *Collector) warn(dependent graph.ID, owner object.Ref) {
	o := c.graph.Object(dependent)
	for _, ref := range o.Owners {
		if ref.UID == owner.UID {
			c.warnings = append(c.warnings, Warning{Dependent: o.Ref, Owner: ref.In(o.Namespace)})
			return
		}
	}
}

func (c *Collector) remember(absent object.Ref) {
	if c.rules == Upstream {
		c.absent.add(absent)
	}
}
