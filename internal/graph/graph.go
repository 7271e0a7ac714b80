package graph

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Graph is a set of nodes with links from dependents to owners. Create it with New.
type Graph struct {
	byUID map[types.UID]ID
	nodes slab[node]
	links slab[link]
}

// New returns an empty graph.
func New() *Graph { return WithCapacity(0) }

// WithCapacity returns an empty graph with preallocated memory for n nodes.
func WithCapacity(n int) *Graph { return &Graph{byUID: make(map[types.UID]ID, n)} }

// Len returns the number of nodes in the graph.
func (g *Graph) Len() int { return len(g.byUID) }

// Find returns the node with the UID.
func (g *Graph) Find(uid types.UID) (ID, bool) {
	id, ok := g.byUID[uid]
	return id, ok
}

// Add adds an observed object. The UID must not be in the graph. The references are not linked yet:
// the caller links them afterwards, so that a node may refer to itself.
func (g *Graph) Add(o *object.Object) ID {
	f := present
	if o.BeingDeleted() {
		f |= beingDeleted
	}
	if o.WaitingForDependents() {
		f |= waitingForDependents
	}
	return g.put(node{object: o, flags: f})
}

// AddVirtual adds a node for an object that is only referred to.
func (g *Graph) AddVirtual(identity object.Ref) ID {
	return g.put(node{object: &object.Object{Ref: identity}, flags: present | virtual})
}

func (g *Graph) put(n node) ID {
	id := ID(g.nodes.take())
	*g.node(id) = n
	g.byUID[n.object.UID] = id
	return id
}

// Update replaces the observed object of a node and keeps its identity. It updates the blocking
// counts of linked owners; the caller must link and unlink.
func (g *Graph) Update(id ID, o *object.Object) {
	n := g.node(id)
	if o.Ref != n.object.Ref {
		// Another object with the same UID: the node keeps the identity that was observed first, as
		// upstream.
		c := o.Clone()
		c.Ref = n.object.Ref
		o = c
	}
	n.object = o
	for l := n.firstOwner; l != 0; l = g.links.at(l).nextOwner {
		e := g.links.at(l)
		owner := g.node(e.owner)
		blocking := blockingReferences(o.Owners, owner.object.UID)
		owner.blocking += blocking - e.blocking
		e.blocking = blocking
	}
	if o.BeingDeleted() {
		n.flags |= beingDeleted
	}
}

// MarkObserved turns a virtual node into an observed one.
func (g *Graph) MarkObserved(id ID) { g.node(id).flags &^= virtual }

// MarkWaiting records that the start of a foreground deletion was observed.
func (g *Graph) MarkWaiting(id ID) { g.node(id).flags |= waitingForDependents }

// Link makes dependent a dependent of owner, unless it is one already.
func (g *Graph) Link(dependent, owner ID) {
	d, o := g.node(dependent), g.node(owner)
	for l := d.firstOwner; l != 0; l = g.links.at(l).nextOwner {
		if g.links.at(l).owner == owner {
			return
		}
	}
	i := g.links.take()
	e := g.links.at(i)
	*e = link{
		dependent: dependent, owner: owner, previous: o.lastDependent, nextOwner: d.firstOwner,
		blocking: blockingReferences(d.object.Owners, o.object.UID),
	}
	if o.lastDependent == 0 {
		o.firstDependent = i
	} else {
		g.links.at(o.lastDependent).next = i
	}
	o.lastDependent = i
	o.dependents++
	o.blocking += e.blocking
	d.firstOwner = i
}

// Unlink removes a link, if it exists.
func (g *Graph) Unlink(dependent, owner ID) {
	d := g.node(dependent)
	at := &d.firstOwner
	for *at != 0 {
		i := *at
		e := g.links.at(i)
		if e.owner == owner {
			*at = e.nextOwner
			g.unlinkFromOwner(i)
			g.links.release(i)
			return
		}
		at = &e.nextOwner
	}
}

// unlinkFromOwner removes a link from its owner's list of dependents.
func (g *Graph) unlinkFromOwner(i uint32) {
	e := g.links.at(i)
	o := g.node(e.owner)
	if e.previous == 0 {
		o.firstDependent = e.next
	} else {
		g.links.at(e.previous).next = e.next
	}
	if e.next == 0 {
		o.lastDependent = e.previous
	} else {
		g.links.at(e.next).previous = e.previous
	}
	o.dependents--
	o.blocking -= e.blocking
}

// Remove removes a node and all its links. Its dependents stay and keep their references. If a
// later reference creates a new node for the UID, they are not linked to it until their own
// references change, as upstream (spec §3.2, exception).
func (g *Graph) Remove(id ID) {
	n := g.node(id)
	for n.firstOwner != 0 {
		i := n.firstOwner
		n.firstOwner = g.links.at(i).nextOwner
		g.unlinkFromOwner(i)
		g.links.release(i)
	}
	for n.firstDependent != 0 {
		g.Unlink(g.links.at(n.firstDependent).dependent, id)
	}
	n.flags &^= present
	delete(g.byUID, n.object.UID)
}

// Replace replaces a node by one with another identity and the same UID, flags, owners and
// dependents, and returns its ID. The old ID is no longer present and keeps its identity for the
// queues that hold it.
//
// Upstream: pkg/controller/garbagecollector/graph.go node.clone.
func (g *Graph) Replace(id ID, identity object.Ref) ID {
	old := g.node(id)
	o := old.object.Clone()
	o.Ref = identity
	fresh := ID(g.nodes.take())
	old = g.node(id)
	*g.node(fresh) = *old
	g.node(fresh).object = o
	for l := old.firstDependent; l != 0; l = g.links.at(l).next {
		g.links.at(l).owner = fresh
	}
	for l := old.firstOwner; l != 0; l = g.links.at(l).nextOwner {
		g.links.at(l).dependent = fresh
	}
	old.firstDependent, old.lastDependent, old.firstOwner, old.dependents, old.blocking = 0, 0, 0, 0, 0
	old.flags &^= present
	g.byUID[identity.UID] = fresh
	return fresh
}

// Free releases the ID of a node that is not present for reuse. The caller must not hold it any
// more.
func (g *Graph) Free(id ID) { g.nodes.release(uint32(id)) }

// All calls yield for every node in the order of IDs. That is the order of insertion unless IDs
// were reused.
func (g *Graph) All(yield func(ID) bool) {
	for i := uint32(1); i < g.nodes.next; i++ {
		if n := g.nodes.at(i); n.flags&present != 0 && !yield(ID(i)) {
			return
		}
	}
}

const (
	chunkBits = 12
	chunkSize = 1 << chunkBits
	chunkMask = chunkSize - 1
)

// slab allocates numbered slots of T that never move. It grows in chunks, without copying. Slot 0
// is never allocated.
type slab[T any] struct {
	chunks []*[chunkSize]T
	next   uint32
	free   []uint32
}

func (s *slab[T]) at(i uint32) *T { return &s.chunks[i>>chunkBits][i&chunkMask] }

func (s *slab[T]) take() uint32 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		return i
	}
	if s.next == 0 {
		s.next = 1
	}
	i := s.next
	if int(i>>chunkBits) == len(s.chunks) {
		s.chunks = append(s.chunks, new([chunkSize]T))
	}
	s.next++
	return i
}

func (s *slab[T]) release(i uint32) {
	var zero T
	*s.at(i) = zero
	s.free = append(s.free, i)
}
