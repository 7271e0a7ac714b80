package impact

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// unsettle finds the objects of which it is not sure that nothing happens to them as
// long as nobody deletes anything: they are being deleted, or would be in the foreground,
// an owner is not there just as they say, the account of their token is not, or their
// pod has lost its node; and
// everything that may go with one of these.
//
// A cycle of owners without any of that rests on itself.
func (m *Map) unsettle() {
	var open []*object.Object
	var known *object.Object // an object whose owners are there
	for _, o := range m.snap.Objects {
		switch {
		case m.stirs(o), !alike(known, o) && !m.owned(o):
			m.restless[o] = true
			open = append(open, o)
		case len(o.Owners) > 0:
			known = o
		}
	}
	for len(open) > 0 {
		o := open[len(open)-1]
		open = open[:len(open)-1]
		for _, d := range m.Below(o) {
			if !m.restless[d] {
				m.restless[d] = true
				open = append(open, d)
			}
		}
	}
}

// owned reports whether all owners of an object are there, just as it says.
func (m *Map) owned(o *object.Object) bool {
	for _, ref := range o.Owners {
		if !m.solid(ref, o) {
			return false
		}
	}
	return true
}

// alike reports whether an object says the same of its owners as another one, which may be nil,
// and means the same: siblings share their references.
func alike(known, o *object.Object) bool {
	return known != nil && object.SameOwners(known.Owners, o.Owners) && o.Namespace == known.Namespace
}

// stirs reports whether something may happen to an object whatever becomes of its owners.
func (m *Map) stirs(o *object.Object) bool {
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
