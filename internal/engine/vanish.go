package engine

import (
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// vanish applies to the graph that a request found nothing under an identity. A watch may never
// report it: perhaps the object never existed. References can disagree about one UID, so the
// absence of one identity isn't the absence of all: dependents that name another one keep the node.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go processGraphChanges,
// enqueueVirtualDeleteEvent.
// Rule: spec §3.5 B3.
func (c *Collector) vanish(absent object.Ref) {
	id, known := c.graph.Find(absent.UID)
	if !known {
		return
	}
	if c.graph.Virtual(id) {
		c.vanishVirtual(id, absent)
		return
	}
	if c.graph.Identity(id) == absent {
		c.remove(id, absent)
		return
	}
	if matching, _ := c.graph.Partition(id, absent); len(matching) > 0 {
		c.remember(absent)
		c.addAll(matching)
	}
}

func (c *Collector) vanishVirtual(id graph.ID, absent object.Ref) {
	matching, mismatched := c.graph.Partition(id, absent)
	if len(mismatched) == 0 {
		c.remove(id, absent)
		return
	}
	if len(matching) > 0 {
		c.remember(absent)
		c.addAll(matching)
	}
	if c.graph.Identity(id) != absent {
		return
	}
	if next, ok := c.graph.Alternate(mismatched, absent); ok {
		fresh := c.graph.Replace(id, next)
		c.free(id)
		c.toDelete.postpone(fresh)
		c.alternates[fresh] = true
	}
}

func (c *Collector) addAll(ids []graph.ID) {
	for _, id := range ids {
		c.toDelete.add(id)
	}
}
