package reach

import (
	"iter"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// ReachableFrom returns the objects that deletes of these may affect, these included: the objects
// deleted with them, and those that are being deleted already and wait for one of these. It follows
// the paths of Sources in reverse.
func (m *Map) ReachableFrom(objects ...*object.Object) *Set {
	asked := map[string]bool{}
	return m.closure(objects, func(o *object.Object) []*object.Object { return m.nextReachable(o, asked) })
}

// Reaching returns the objects from which deletes may reach one of these, these included.
func (m *Map) Reaching(objects ...*object.Object) *Set {
	before := map[*object.Object][]*object.Object{}
	asked, told := map[string]bool{}, map[string]bool{}
	for _, o := range m.snap.Objects {
		for _, x := range m.nextReachable(o, asked) {
			before[x] = append(before[x], o)
		}
	}
	return m.closure(objects, func(o *object.Object) []*object.Object {
		if !o.Is(object.PVC) || !o.BeingDeleted() || told[o.Namespace] {
			return before[o]
		}
		told[o.Namespace] = true // nextReachable skipped the pods after the first one
		return slices.Concat(before[o], m.claimUsers()[unknownVolumesKey(o.Namespace)])
	})
}

// nextReachable returns the objects that ReachableFrom reaches from one in one step, without those
// already listed for another object: see heldBy. The list may have duplicates.
func (m *Map) nextReachable(o *object.Object, asked map[string]bool) []*object.Object {
	return slices.Concat(m.DeletedWith(o), m.sameUID[o.UID],
		object.Filtered(m.possibleOwners(o), (*object.Object).HandlesDependents),
		object.Filtered(slices.Concat(m.waitingContainers(o), m.heldBy(o, asked)), (*object.Object).BeingDeleted))
}

// waitingContainers returns the objects that may wait until o is gone: its namespace and the
// definition of its kind.
func (m *Map) waitingContainers(o *object.Object) []*object.Object {
	var found []*object.Object
	if x := m.namespaces[o.Namespace]; x != nil {
		found = append(found, x)
	}
	if d := m.definitionOf(o.APIVersion, o.Kind); d != nil {
		found = append(found, d)
	}
	return found
}

// closure returns the objects that the steps lead to from these, these included.
func (m *Map) closure(objects []*object.Object, steps func(*object.Object) []*object.Object) *Set {
	met := &Set{rolesIn(m.snap)}
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

// Ancestors returns the objects from which a delete may reach this one, nearest first, without the
// object itself: its owners and theirs, the containers of all these, and, if one of them is being
// deleted or otherwise unstable, the objects that it waits for.
func (m *Map) Ancestors(o *object.Object) []*object.Object {
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

// appendSources is AppendSources without the pods already listed for another claim: see holdersOf.
// A nil told means that none were.
func (m *Map) appendSources(list []*object.Object, o *object.Object, told map[string]bool) []*object.Object {
	list = m.appendContainers(append(list, m.possibleOwners(o)...), o)
	if m.IsStable(o) {
		return list
	}
	if told == nil {
		told = map[string]bool{}
	}
	return append(append(append(list, m.DeletedWith(o)...), m.holdersOf(o, told)...), m.sameUID[o.UID]...)
}

// Set is a set of objects of a snapshot. It is not safe for concurrent use while it grows.
type Set struct{ roles }

// Has reports whether an object is in the set. The object may be a later version of the one that
// was added.
func (s *Set) Has(o *object.Object) bool { return s.roleOf(o) != 0 }

// roles maps objects of a snapshot to the way they were reached, by index.
type roles struct {
	snap    *snapshot.Snapshot
	byIndex []role
	size    int
}

func rolesIn(snap *snapshot.Snapshot) roles {
	return roles{snap: snap, byIndex: make([]role, len(snap.Objects))}
}

// roleOf returns the role of an object; 0 if it is not reached or not in the snapshot.
func (d *roles) roleOf(o *object.Object) role {
	if i := d.snap.Place(o); i >= 0 {
		return d.byIndex[i]
	}
	return 0
}

// set records the role of an object, which must be in the snapshot.
func (d *roles) set(o *object.Object, to role) {
	i := d.snap.Place(o)
	if d.byIndex[i] == 0 {
		d.size++
	}
	d.byIndex[i] = to
}

// All iterates over the objects reached in any way, in object.Compare order.
func (d *roles) All() iter.Seq[*object.Object] { return d.atLeast(1) }

func (d *roles) atLeast(least role) iter.Seq[*object.Object] {
	return func(yield func(*object.Object) bool) {
		for i, at := range d.byIndex {
			if at >= least && !yield(d.snap.Objects[i]) {
				return
			}
		}
	}
}

// findUnstable finds the objects that may change without a delete request, and everything that may
// be deleted with them. An object is one if it
//   - is being deleted, or has a finalizer of the collector,
//   - has an owner that does not exist exactly as its reference describes it,
//   - is a token without its account, or
//   - is a pod on a missing node.
//
// A cycle of owners without any of that is stable.
func (m *Map) findUnstable() {
	var open []*object.Object
	var known *object.Object // the last object with only existing owners
	for _, o := range m.snap.Objects {
		switch {
		case m.isUnstableItself(o), !sameOwners(known, o) && !m.owned(o):
			open = append(open, o)
		case len(o.Owners) > 0:
			known = o
		}
	}
	for _, o := range object.Reached(open, m.DeletedWith) {
		m.unstable[o] = true
	}
}

// owned reports whether all owners of an object exist exactly as its references describe them.
func (m *Map) owned(o *object.Object) bool {
	return !slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool { return !m.existsExactly(ref, o) })
}

// sameOwners reports whether o has the same references in the same namespace as known, which may be
// nil. Siblings have the same, so that one check serves all.
func sameOwners(known, o *object.Object) bool {
	return known != nil && object.SameOwners(known.Owners, o.Owners) && o.Namespace == known.Namespace
}

// isUnstableItself reports whether something may happen to an object whatever its owners do.
func (m *Map) isUnstableItself(o *object.Object) bool {
	if o.BeingDeleted() || o.HandlesDependents() {
		return true
	}
	if t := o.Token(); t != nil {
		if a := m.find(object.ServiceAccount, o.Namespace, t.Account); len(a) == 0 || !t.Of(a[0].Name, a[0].UID) {
			return true
		}
	}
	facts := o.Pod()
	return facts != nil && facts.NodeName != "" && len(m.nodes) > 0 && m.nodes[facts.NodeName] == nil
}
