package history

import (
	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Moment is a revision of a cluster. All kinds share one counter, so the order of all writes is
// known.
type Moment struct {
	Revision uint64
	// Time is in seconds since 1970 by the clocks of the cluster; 0 if unknown.
	Time int64
}

// Change is one write to one object.
type Change struct {
	// Revision is the revision of the write, or the latest possible one if After is set.
	Revision uint64
	// After is the last revision that is certainly before the write; 0 if Revision is exact.
	After uint64
	Type  object.EventType
	// Object is the object after the write. For a deletion it is the last state, with the revision
	// of the deletion as its resourceVersion.
	Object *object.Object
	// Old is the object before the write. It is nil for a creation, and if unknown.
	Old *object.Object
	// Unseen is true if the write was inferred: it was made at Revision or earlier.
	Unseen bool
}

// Before returns the last revision that is certainly before the write.
func (c *Change) Before() uint64 {
	if c.After != 0 {
		return c.After
	}
	return c.Revision - 1
}

// Past is the known history of a cluster between two moments.
type Past struct {
	// From is the beginning: nothing is known about earlier writes. To is the end.
	From, To Moment
	// Changes are the writes after From up to To, ordered by revision.
	Changes []Change
	// Standing are objects that existed unchanged from From to To, as far as they were read: the
	// owners, namespaces and CRDs of changed objects.
	Standing []*object.Object
	// Absent are coordinates without an object from From to To. The UIDs are empty.
	Absent []object.Ref
	// Elsewhere are owners of deleted objects in another namespace than their dependent.
	Elsewhere []*object.Object
	// Namespaces limit the changes to the content of these namespaces; nil means all.
	Namespaces []string
	// Resources are the kinds that the server serves.
	Resources *object.Resources
	// Minor is the minor version of the server: 37 for v1.37.2; 0 if unknown.
	Minor int
	// Clock maps revisions to times.
	Clock Clock
	// Timeless is true if no revision has a known time. Then a window with a time gets the whole
	// remembered past.
	Timeless bool
	// Limits are the kinds with an incomplete history.
	Limits []Limit
	// Log is the record of deletes in audit logs; nil without one.
	Log *audit.Log
}

// Limit is a kind with an incomplete history.
type Limit struct {
	Resource object.Resource
	// From is where its history begins; the zero value if nothing is known.
	From Moment
	// Listed is true if lists from before From are known, and the changes that they reveal. Objects
	// that were created and deleted between two lists are missing.
	Listed bool
	// Why is the error of the server.
	Why string
}
