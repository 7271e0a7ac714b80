package impact

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Above returns the objects whose delete may reach this one, nearest first, without the object
// itself: its owners and theirs, the containers of all these, and, if one of them is being deleted or
// otherwise unsettled, the objects that it waits for.
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

// Sources returns the objects whose delete may reach this one in one step. The list may have
// duplicates.
func (m *Map) Sources(o *object.Object) []*object.Object { return m.AppendSources(nil, o) }

// AppendSources appends the Sources of an object to a list.
func (m *Map) AppendSources(list []*object.Object, o *object.Object) []*object.Object {
	return m.appendSources(list, o, nil)
}

// appendSources is AppendSources without the pods already listed for another claim: see holders. A
// nil told means that none were.
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
