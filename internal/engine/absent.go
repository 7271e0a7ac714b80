package engine

import (
	"container/list"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// absentCapacity is how many absent owners are remembered.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go NewDependencyGraphBuilder: 500
// identities, never invalidated.
const absentCapacity = 500

// absentOwners remembers identities that were found absent, the least recently
// used ones forgotten first. An identity without a namespace stands for a
// cluster-scoped owner. They are found by UID: hardly ever are there two of one.
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

// has reports whether ref is remembered, and counts as a use of it.
func (a *absentOwners) has(ref object.Ref) bool {
	e := a.find(ref)
	if e != nil {
		a.order.MoveToFront(e)
	}
	return e != nil
}

// find is where ref is remembered; nil if it is not.
func (a *absentOwners) find(ref object.Ref) *list.Element {
	for _, e := range a.at[ref.UID] {
		if e.Value.(object.Ref) == ref {
			return e
		}
	}
	return nil
}

// refs lists what is remembered, the most recent first.
func (a *absentOwners) refs() []object.Ref {
	refs := make([]object.Ref, 0, a.order.Len())
	for e := a.order.Front(); e != nil; e = e.Next() {
		refs = append(refs, e.Value.(object.Ref))
	}
	return refs
}
