package reach

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// From returns the objects that deletes of these may touch, these included: what goes
// with them, and what is being deleted already and waits for one of those. It goes by
// the paths of Sources, the other way round.
func (m *Map) From(objects ...*object.Object) map[*object.Object]bool {
	met := make(map[*object.Object]bool, len(objects))
	var open []*object.Object
	visit := func(list []*object.Object) {
		for _, o := range list {
			if !met[o] {
				met[o] = true
				open = append(open, o)
			}
		}
	}
	visit(objects)
	for len(open) > 0 {
		o := open[len(open)-1]
		open = open[:len(open)-1]
		visit(m.dependents(o))
		visit(m.twins[o.UID])
		visit(those(m.owners(o), waitsForDependents))
		visit(those(m.containers(o), (*object.Object).BeingDeleted))
		visit(those(m.held(o), (*object.Object).BeingDeleted))
	}
	return met
}

func waitsForDependents(o *object.Object) bool {
	return o.HasFinalizer(object.Foreground) || o.HasFinalizer(object.Orphan)
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
