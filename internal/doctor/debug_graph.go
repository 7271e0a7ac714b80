package doctor

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// DebugGraph is a collector's view of the objects that have owners or dependents. The debug endpoint
// leaves out all others.
type DebugGraph struct {
	// Nodes are in the order of the text, which is that of their UIDs. The UIDs are unique.
	Nodes []GraphNode
	// Edges are in the order of the text: by dependent, then by owner. If an object names an owner
	// twice, there are two.
	Edges []GraphEdge
}

// GraphNode is an object, or an owner that is only referred to.
type GraphNode struct {
	Ref object.Ref
	// Missing: the owner was in the graph and is no longer, although some object still refers to it.
	// Its namespace is unknown.
	Missing bool
	// BeingDeleted and WaitingForDependents are set when the collector learns of a deletion, and
	// never cleared.
	BeingDeleted         bool
	WaitingForDependents bool
	// Virtual: the object is referred to, but no watch has shown it.
	Virtual bool
}

// Observed reports whether a watch has shown the object to the collector.
func (n GraphNode) Observed() bool { return !n.Virtual && !n.Missing }

// GraphEdge is one owner reference. The text does not show whether it blocks.
//
// If owners are missing, upstream writes wrong edges: one to a dependent of the missing owner may
// point to the missing owner instead. (spec §4)
type GraphEdge struct {
	Dependent types.UID
	Owner     types.UID
}

// SyntaxError is the place where a text is not the graph of a collector.
type SyntaxError struct {
	// Line counts from 1.
	Line int
	What string
}

// Error returns the message with the line.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d: %s", e.Line, e.What)
}
