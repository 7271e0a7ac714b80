package history

import (
	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Moment is a revision of a cluster. All kinds share one counter, so that the order of all
// writes is known.
type Moment struct {
	Revision uint64
	// Time is when that was, in seconds since 1970 by the clocks of the cluster; 0 if it is not known.
	Time int64
}

// Change is one write to one object.
type Change struct {
	// Revision is when the write was made, or the latest it can have been where After is set.
	Revision uint64
	// After is the last revision at which it is known not to have been made; 0 if Revision is exact.
	After uint64
	Type  object.EventType
	// Object is the object as the write has left it; of a deletion its last state, with the
	// revision of the deletion as its resourceVersion.
	Object *object.Object
	// Old is the object before the write. It is nil for a creation, and where it is not known.
	Old *object.Object
	// Unseen says that nobody has seen the write: it was made by Revision at the latest.
	Unseen bool
}

// Before returns the last revision at which the write had not been made for certain.
func (c *Change) Before() uint64 {
	if c.After != 0 {
		return c.After
	}
	return c.Revision - 1
}

// Past is what is known of a cluster between two moments.
type Past struct {
	// From is where it begins: nothing is known of what was before. To is where it ends.
	From, To Moment
	// Changes are the writes behind From, up to To, ordered by revision.
	Changes []Change
	// Standing are objects that were there without a change from From to To, as far as somebody
	// has looked for them: the owners, namespaces and definitions of what has changed.
	Standing []*object.Object
	// Absent are coordinates at which nothing was there from From to To; the UIDs are empty.
	Absent []object.Ref
	// Elsewhere are owners of what went that are in another namespace than their dependent.
	Elsewhere []*object.Object
	// Namespaces are the only ones of whose content it has the changes; nil for all.
	Namespaces []string
	// Resources are the kinds that the server serves.
	Resources *object.Resources
	// Minor is the minor version of the server: 37 of v1.37.2; 0 if it is not known.
	Minor int
	// Clock tells when a revision was.
	Clock Clock
	// Timeless says that nothing tells which revision a time was: a window that asks for a time is
	// given all that is remembered.
	Timeless bool
	// Limits are the kinds of which less is known than of the others.
	Limits []Limit
	// Log is what audit logs say of who sent deletes; nil without one.
	Log *audit.Log
}

// Limit is a kind of which less is known.
type Limit struct {
	Resource object.Resource
	// From is where its history begins; the zero value where nothing is known of it.
	From Moment
	// Listed says that lists of what was there are known from before From, and the changes between them
	// as far as they show: what came and went between two of them is not known.
	Listed bool
	// Why is the answer of the server.
	Why string
}
