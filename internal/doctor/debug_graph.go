package doctor

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// DebugGraph is what a collector believes of objects that have owners or dependents; the
// endpoint leaves out all others.
type DebugGraph struct {
	// Nodes are in the order of the text, which is that of their UIDs. No two have the
	// same.
	Nodes []GraphNode
	// Edges are in the order of the text: by dependent, then by owner. An owner that an
	// object names twice has two.
	Edges []GraphEdge
}

// GraphNode is an object, or something that is only referred to.
type GraphNode struct {
	Ref object.Ref
	// Missing: an owner that was in the graph and is not any more, although something
	// still refers to it. Its namespace is not known.
	Missing bool
	// BeingDeleted and WaitingForDependents are set when the collector learns of a
	// deletion, and never taken back.
	BeingDeleted         bool
	WaitingForDependents bool
	// Virtual: referred to, and not seen by any watch.
	Virtual bool
}

// Observed reports whether a watch has shown the object to the collector.
func (n GraphNode) Observed() bool { return !n.Virtual && !n.Missing }

// GraphEdge is one owner reference. The text does not say whether it blocks.
//
// Where owners are missing, upstream leads edges astray: one to a dependent of the
// missing owner may point to the missing owner instead. (spec §4)
type GraphEdge struct {
	Dependent types.UID
	Owner     types.UID
}

// SyntaxError says where a text is not the graph of a collector.
type SyntaxError struct {
	// Line is counted from 1.
	Line int
	What string
}

// Error names the line.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d: %s", e.Line, e.What)
}
