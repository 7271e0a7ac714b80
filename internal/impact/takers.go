package impact

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Above lists the objects whose delete may reach this one, nearest first and without
// the object itself: its owners and their owners, what it and these are contained in,
// and, where one of them waits already, those for which it waits.
func (m *Map) Above(o *object.Object) []*object.Object {
	met, told := map[*object.Object]bool{o: true}, map[string]bool{}
	var found []*object.Object
	ring := []*object.Object{o}
	for len(ring) > 0 {
		var next []*object.Object
		for _, x := range ring {
			for _, a := range m.appendSources(nil, x, told) {
				if !met[a] {
					met[a] = true
					next = append(next, a)
				}
			}
		}
		slices.SortFunc(next, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
		found = append(found, next...)
		ring = next
	}
	return found
}

// Sources lists the objects from which a delete may come to this one in one step. One
// may be listed twice.
func (m *Map) Sources(o *object.Object) []*object.Object { return m.AppendSources(nil, o) }

// AppendSources adds the Sources of an object to a list.
func (m *Map) AppendSources(list []*object.Object, o *object.Object) []*object.Object {
	return m.appendSources(list, o, nil)
}

// appendSources is AppendSources without the pods that were listed for another claim: see holders.
// Nil stands for none that were.
func (m *Map) appendSources(list []*object.Object, o *object.Object, told map[string]bool) []*object.Object {
	list = m.appendContainers(append(list, m.owners(o)...), o)
	if m.Settled(o) {
		return list
	}
	if told == nil {
		told = map[string]bool{}
	}
	return append(append(append(list, m.Below(o)...), m.holders(o, told)...), m.twins[o.UID]...)
}
