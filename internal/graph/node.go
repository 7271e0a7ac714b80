package graph

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ID identifies a node. Zero means none. An ID is valid until Free.
type ID uint32

type flags uint8

const (
	virtual flags = 1 << iota
	beingDeleted
	waitingForDependents
	// present: the node is in the graph. The ID of a removed or replaced node isn't present but
	// keeps its last identity.
	present
)

type node struct {
	// object is the last observed object. That of a virtual node has only an identity.
	object *object.Object
	// firstDependent and lastDependent are the ends of the list of links to dependents, in the
	// order of linking. firstOwner is the start of the list of links to owners. 0 means none.
	firstDependent, lastDependent uint32
	firstOwner                    uint32
	dependents                    uint32
	// blocking is the number of blocking references to this node.
	blocking uint32
	flags    flags
}

// link joins a dependent to an owner. It is a member of two lists.
type link struct {
	dependent, owner ID
	next, previous   uint32 // among the dependents of owner
	nextOwner        uint32 // among the owners of dependent
	blocking         uint32 // blocking references of dependent with owner's UID
}

// Identity returns the identity of the node: guessed from a reference while it is virtual, observed
// afterwards.
func (g *Graph) Identity(id ID) object.Ref { return g.node(id).object.Ref }

// Object returns the last observed object. That of a virtual node has only an identity.
func (g *Graph) Object(id ID) *object.Object { return g.node(id).object }

// Owners returns the owner references as last observed. Callers must not change the slice.
func (g *Graph) Owners(id ID) []object.OwnerReference { return g.node(id).object.Owners }

// Virtual reports whether no watch or list has shown the object yet.
func (g *Graph) Virtual(id ID) bool { return g.node(id).flags&virtual != 0 }

// BeingDeleted reports whether a deletion timestamp was ever observed. It is never
// reset.
func (g *Graph) BeingDeleted(id ID) bool { return g.node(id).flags&beingDeleted != 0 }

// WaitingForDependents reports whether the start of a foreground deletion was ever observed. It is
// never reset, even if the finalizer is removed.
func (g *Graph) WaitingForDependents(id ID) bool { return g.node(id).flags&waitingForDependents != 0 }

// Present reports whether the node is in the graph. It isn't after Remove or Replace.
func (g *Graph) Present(id ID) bool { return g.node(id).flags&present != 0 }

// DependentCount returns the number of dependents linked to the node.
func (g *Graph) DependentCount(id ID) int { return int(g.node(id).dependents) }

// BlockingCount returns the number of blocking references to the node. Their namespace, kind and
// name don't matter, as upstream.
func (g *Graph) BlockingCount(id ID) int { return int(g.node(id).blocking) }

// EachDependent calls yield for the dependents in the order of linking, until it returns false. The
// graph must not change meanwhile.
func (g *Graph) EachDependent(id ID, yield func(ID) bool) {
	for l := g.node(id).firstDependent; l != 0; {
		e := g.links.at(l)
		l = e.next
		if !yield(e.dependent) {
			return
		}
	}
}

// Dependents returns the dependents in object.Compare order.
func (g *Graph) Dependents(id ID) []ID {
	ids := make([]ID, 0, g.node(id).dependents)
	g.EachDependent(id, func(d ID) bool {
		ids = append(ids, d)
		return true
	})
	g.Sort(ids)
	return ids
}

// EachBlocking calls yield for each dependent with a blocking reference to the node, in the order
// of linking, until it returns false.
func (g *Graph) EachBlocking(id ID, yield func(ID) bool) {
	for l := g.node(id).firstDependent; l != 0; {
		e := g.links.at(l)
		l = e.next
		if e.blocking > 0 && !yield(e.dependent) {
			return
		}
	}
}

// BlockingDependents returns the dependents with a blocking reference to the node, in
// object.Compare order.
//
// Upstream: pkg/controller/garbagecollector/graph.go node.blockingDependents.
func (g *Graph) BlockingDependents(id ID) []ID {
	var ids []ID
	g.EachBlocking(id, func(d ID) bool {
		ids = append(ids, d)
		return true
	})
	g.Sort(ids)
	return ids
}

// Sort sorts IDs by their identities in object.Compare order.
func (g *Graph) Sort(ids []ID) {
	slices.SortFunc(ids, func(a, b ID) int { return object.Compare(g.node(a).object.Ref, g.node(b).object.Ref) })
}

func (g *Graph) node(id ID) *node { return g.nodes.at(uint32(id)) }

func blockingReferences(owners []object.OwnerReference, uid types.UID) uint32 {
	var n uint32
	for i := range owners {
		if owners[i].UID == uid && owners[i].Blocks() {
			n++
		}
	}
	return n
}
