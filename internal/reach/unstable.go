package reach

import "github.com/kubectl-gc/kubectl-gc/internal/object"

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
			m.unstable[o] = true
			open = append(open, o)
		case len(o.Owners) > 0:
			known = o
		}
	}
	for len(open) > 0 {
		o := open[len(open)-1]
		open = open[:len(open)-1]
		for _, d := range m.DeletedWith(o) {
			if !m.unstable[d] {
				m.unstable[d] = true
				open = append(open, d)
			}
		}
	}
}

// owned reports whether all owners of an object exist exactly as its references describe them.
func (m *Map) owned(o *object.Object) bool {
	for _, ref := range o.Owners {
		if !m.existsExactly(ref, o) {
			return false
		}
	}
	return true
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
