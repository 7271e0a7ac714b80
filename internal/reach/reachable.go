package reach

import (
	"iter"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// From returns the objects that deletes of these may affect, these included: the objects deleted with
// them, and those that are being deleted already and wait for one of these. It follows the paths of
// Sources in reverse.
func (m *Map) From(objects ...*object.Object) *Set {
	asked := map[string]bool{}
	return m.spread(objects, func(o *object.Object) []*object.Object { return m.next(o, asked) })
}

// Into returns the objects that have one of these in their From, these included.
func (m *Map) Into(objects ...*object.Object) *Set {
	before := map[*object.Object][]*object.Object{}
	asked, told := map[string]bool{}, map[string]bool{}
	for _, o := range m.snap.Objects {
		for _, x := range m.next(o, asked) {
			before[x] = append(before[x], o)
		}
	}
	return m.spread(objects, func(o *object.Object) []*object.Object {
		if !o.Is(object.PVC) || !o.BeingDeleted() || told[o.Namespace] {
			return before[o]
		}
		told[o.Namespace] = true // next skipped the pods after the first one
		return slices.Concat(before[o], m.users()[hidden(o.Namespace)])
	})
}

// next returns the objects that From reaches from one in one step, without those already listed for
// another object: see held. The list may have duplicates.
func (m *Map) next(o *object.Object, asked map[string]bool) []*object.Object {
	return slices.Concat(m.Below(o), m.twins[o.UID],
		those(m.owners(o), (*object.Object).HandlesDependents), those(m.emptied(o), (*object.Object).BeingDeleted), those(m.held(o, asked), (*object.Object).BeingDeleted))
}

// emptied returns the objects that may wait until o is gone: its namespace and the definition of its
// kind.
func (m *Map) emptied(o *object.Object) []*object.Object {
	var found []*object.Object
	if x := m.namespaces[o.Namespace]; x != nil {
		found = append(found, x)
	}
	if d := m.definitionOf(o.APIVersion, o.Kind); d != nil {
		found = append(found, d)
	}
	return found
}

// spread returns the objects that the steps lead to from these, these included.
func (m *Map) spread(objects []*object.Object, steps func(*object.Object) []*object.Object) *Set {
	met := &Set{depthsIn(m.snap)}
	var open []*object.Object
	visit := func(list []*object.Object) {
		for _, o := range list {
			if !met.Has(o) {
				met.set(o, reached)
				open = append(open, o)
			}
		}
	}
	visit(objects)
	for len(open) > 0 {
		o := open[len(open)-1]
		open = open[:len(open)-1]
		visit(steps(o))
	}
	return met
}

// those returns the objects that satisfy are.
func those(objects []*object.Object, are func(*object.Object) bool) []*object.Object {
	var list []*object.Object
	for _, o := range objects {
		if are(o) {
			list = append(list, o)
		}
	}
	return list
}

// Above returns the objects from which a delete may reach this one, nearest first, without the
// object itself: its owners and theirs, the containers of all these, and, if one of them is being
// deleted or otherwise unsettled, the objects that it waits for.
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

// Sources returns the objects from which a delete may reach this one in one step. The list may have
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

// Set is a set of objects of a snapshot. It is not safe for concurrent use while it grows.
type Set struct{ depths }

// Has reports whether an object is in the set. The object may be a later version of the one that was
// added.
func (s *Set) Has(o *object.Object) bool { return s.at(o) != 0 }

// depths maps objects of a snapshot to the way they were reached, by index.
type depths struct {
	snap *snapshot.Snapshot
	of   []depth
	size int
}

func depthsIn(snap *snapshot.Snapshot) depths {
	return depths{snap: snap, of: make([]depth, len(snap.Objects))}
}

// at returns the depth of an object; 0 if it is not reached or not in the snapshot.
func (d *depths) at(o *object.Object) depth {
	if i := d.snap.Place(o); i >= 0 {
		return d.of[i]
	}
	return 0
}

// set records the depth of an object, which must be in the snapshot.
func (d *depths) set(o *object.Object, to depth) {
	i := d.snap.Place(o)
	if d.of[i] == 0 {
		d.size++
	}
	d.of[i] = to
}

// All iterates over the objects reached in any way, in object.Compare order.
func (d *depths) All() iter.Seq[*object.Object] { return d.atLeast(1) }

func (d *depths) atLeast(least depth) iter.Seq[*object.Object] {
	return func(yield func(*object.Object) bool) {
		for i, at := range d.of {
			if at >= least && !yield(d.snap.Objects[i]) {
				return
			}
		}
	}
}
