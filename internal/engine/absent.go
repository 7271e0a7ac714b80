package engine

import (
	"container/list"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// absentCapacity is how many absent owners are remembered.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go NewDependencyGraphBuilder: 500
// identities, never invalidated.
const absentCapacity = 500

// absentOwners remembers identities that were found absent, the least recently
// used ones forgotten first. An identity without a namespace stands for a
// cluster-scoped owner.
//
// Upstream: pkg/controller/garbagecollector/uid_cache.go ReferenceCache.
// Rule: spec §3.1, Q14.
type absentOwners struct {
	capacity int
	order    *list.List // of object.Ref, most recent in front
	at       map[object.Ref]*list.Element
}

func newAbsentOwners(capacity int) *absentOwners {
	return &absentOwners{capacity: capacity, order: list.New(), at: map[object.Ref]*list.Element{}}
}

func (a *absentOwners) add(ref object.Ref) {
	if e, ok := a.at[ref]; ok {
		a.order.MoveToFront(e)
		return
	}
	a.at[ref] = a.order.PushFront(ref)
	if a.order.Len() > a.capacity {
		oldest := a.order.Back()
		a.order.Remove(oldest)
		delete(a.at, oldest.Value.(object.Ref))
	}
}

// has reports whether ref is remembered, and counts as a use of it.
func (a *absentOwners) has(ref object.Ref) bool {
	e, ok := a.at[ref]
	if ok {
		a.order.MoveToFront(e)
	}
	return ok
}

// refs lists what is remembered, the most recent first.
func (a *absentOwners) refs() []object.Ref {
	refs := make([]object.Ref, 0, a.order.Len())
	for e := a.order.Front(); e != nil; e = e.Next() {
		refs = append(refs, e.Value.(object.Ref))
	}
	return refs
}
