package engine

import (
	"container/list"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// absentCapacity is the number of absent owners that are remembered.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go NewDependencyGraphBuilder: 500
// identities, never invalidated.
const absentCapacity = 500

// absentOwners is an LRU set of identities that were found absent. An identity without a namespace
// means a cluster-scoped owner. The map is keyed by UID because two identities rarely share one.
//
// Upstream: pkg/controller/garbagecollector/uid_cache.go ReferenceCache.
// Rule: spec §3.1, Q14.
type absentOwners struct {
	capacity int
	order    *list.List // of object.Ref, most recent in front
	at       map[types.UID][]*list.Element
}

func newAbsentOwners(capacity int) *absentOwners {
	return &absentOwners{capacity: capacity, order: list.New(), at: map[types.UID][]*list.Element{}}
}

func (a *absentOwners) add(ref object.Ref) {
	if a.has(ref) {
		return
	}
	a.at[ref.UID] = append(a.at[ref.UID], a.order.PushFront(ref))
	if a.order.Len() > a.capacity {
		a.forget(a.order.Back())
	}
}

func (a *absentOwners) forget(e *list.Element) {
	uid := a.order.Remove(e).(object.Ref).UID
	a.at[uid] = slices.DeleteFunc(a.at[uid], func(same *list.Element) bool { return same == e })
	if len(a.at[uid]) == 0 {
		delete(a.at, uid)
	}
}

// has reports whether ref is in the set, and counts as a use of it.
func (a *absentOwners) has(ref object.Ref) bool {
	e := a.find(ref)
	if e != nil {
		a.order.MoveToFront(e)
	}
	return e != nil
}

// find returns the list element of ref, nil if ref is not in the set.
func (a *absentOwners) find(ref object.Ref) *list.Element {
	for _, e := range a.at[ref.UID] {
		if e.Value.(object.Ref) == ref {
			return e
		}
	}
	return nil
}

// refs lists the identities, most recently used first.
func (a *absentOwners) refs() []object.Ref {
	refs := make([]object.Ref, 0, a.order.Len())
	for e := a.order.Front(); e != nil; e = e.Next() {
		refs = append(refs, e.Value.(object.Ref))
	}
	return refs
}

// vanish updates the graph after a request found nothing under an identity. A watch may never
// report that: perhaps the object never existed. References can disagree about one UID, so the
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

// vanishVirtual removes a virtual node if all dependents name it by the absent identity. Otherwise
// it queues those that do. If the node has the absent identity, it gets another one by which a
// dependent names it, and that one is looked up next.
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
