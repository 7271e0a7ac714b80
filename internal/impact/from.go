package impact

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// From returns the objects that deletes of these may touch, these included: what goes
// with them, and what is being deleted already and waits for one of those. It goes by
// the paths of Sources, the other way round.
func (m *Map) From(objects ...*object.Object) *Set {
	asked := map[string]bool{}
	return m.spread(objects, func(o *object.Object) []*object.Object { return m.next(o, asked) })
}

// Into returns the objects from which From comes to one of these, these included.
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
		told[o.Namespace] = true // the pods that were not asked, for another one was
		return slices.Concat(before[o], m.users()[hidden(o.Namespace)])
	})
}

// next are the objects to which From comes from one in one step, but for what was asked for
// already: see held. One may be listed twice.
func (m *Map) next(o *object.Object, asked map[string]bool) []*object.Object {
	return slices.Concat(m.Below(o), m.twins[o.UID],
		those(m.owners(o), (*object.Object).HandlesDependents), those(m.emptied(o), (*object.Object).BeingDeleted), those(m.held(o, asked), (*object.Object).BeingDeleted))
}

// emptied are what an object is in, which goes when it is empty: its namespace and the
// definition of its kind.
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

// spread returns what the steps lead to from these objects, these included.
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

func those(objects []*object.Object, are func(*object.Object) bool) []*object.Object {
	var list []*object.Object
	for _, o := range objects {
		if are(o) {
			list = append(list, o)
		}
	}
	return list
}
