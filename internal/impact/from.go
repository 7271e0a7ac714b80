package impact

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
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

func those(objects []*object.Object, are func(*object.Object) bool) []*object.Object {
	var list []*object.Object
	for _, o := range objects {
		if are(o) {
			list = append(list, o)
		}
	}
	return list
}
