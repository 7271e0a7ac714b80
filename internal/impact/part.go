package impact

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Part is the snapshot reduced to what can decide about what deletes of these objects
// do, and about the objects themselves. It is the whole snapshot where objects share
// a uid.
func (m *Map) Part(objects ...*object.Object) *snapshot.Snapshot {
	if m.shared {
		return m.snap
	}
	return m.cut(m.grow(objects))
}

// Reach is Part and Reached in one.
func (m *Map) Reach(objects ...*object.Object) (part *snapshot.Snapshot, reached []*object.Object) {
	if m.shared {
		return m.snap, m.snap.Objects
	}
	p := m.grow(objects)
	return m.cut(p), p.reached()
}

// Restless lists the objects that are not Settled.
func (m *Map) Restless() []*object.Object {
	var list []*object.Object
	for _, o := range m.snap.Objects {
		if !m.Settled(o) {
			list = append(list, o)
		}
	}
	return list
}

// Reached lists the objects to which something may happen because of deletes of these
// objects, in object.Compare order: all of them where objects share a uid.
func (m *Map) Reached(objects ...*object.Object) []*object.Object {
	if m.shared {
		return m.snap.Objects
	}
	return m.grow(objects).reached()
}

// grow finds the part of these objects.
func (m *Map) grow(objects []*object.Object) part {
	p := m.empty()
	for _, o := range objects {
		p.visit(o, reached)
	}
	for len(p.open) > 0 {
		o := p.open[len(p.open)-1]
		p.open = p.open[:len(p.open)-1]
		p.spread(o)
	}
	return p
}

// reached lists the objects of a part to which something may happen.
func (p part) reached() []*object.Object {
	var list []*object.Object
	for o, d := range p.depth {
		if d == reached {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return list
}

// cut makes a snapshot of a part.
func (m *Map) cut(p part) *snapshot.Snapshot {
	for _, o := range m.everywhere {
		if p.depth[o] == 0 {
			p.depth[o] = decides
		}
	}
	list := make([]*object.Object, 0, len(p.depth))
	if len(p.depth) > len(m.snap.Objects)/8 {
		for _, o := range m.snap.Objects {
			if p.depth[o] != 0 {
				list = append(list, o)
			}
		}
		return m.snap.With(list)
	}
	for o := range p.depth {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return m.snap.With(list)
}

// depth says why an object is in a part.
type depth uint8

const (
	// decides: whether it is there decides about others.
	decides depth = iota + 1
	// reached: something may happen to it.
	reached
)

// part are the objects of a part while it grows.
type part struct {
	*Map
	depth map[*object.Object]depth
	open  []*object.Object
	// asked are the owners that were not seen whose dependents were visited; using the
	// namespaces whose claims were for a pod of which it is not known what it uses, and used
	// those whose pods of that sort were for a claim.
	asked       map[graph.ID]bool
	using, used map[string]bool
}

func (p *part) visit(o *object.Object, d depth) {
	if p.restless[o] {
		d = reached
	}
	if p.depth[o] < d {
		p.depth[o] = d
		p.open = append(p.open, o)
	}
}

func (p *part) spread(o *object.Object) {
	for _, x := range p.owners(o) {
		p.visit(x, decides)
	}
	for _, x := range p.containers(o) {
		p.visit(x, decides)
	}
	if p.depth[o] != reached {
		return
	}
	p.visitSiblings(o)
	for _, x := range p.dependents(o) {
		p.visit(x, reached)
	}
	for _, x := range p.held(o, p.using) {
		p.visit(x, decides)
	}
	for _, x := range p.holders(o, p.used) {
		p.visit(x, decides)
	}
}

// visitSiblings visits the objects that refer to an owner of the object which was not
// seen: what they say of it decides where it is looked for. (spec §3.6.4)
func (p *part) visitSiblings(o *object.Object) {
	for _, ref := range o.Owners {
		id, ok := p.graph.Find(ref.UID)
		if !ok || !p.graph.Virtual(id) || p.asked[id] {
			continue
		}
		p.asked[id] = true
		p.graph.EachDependent(id, func(d graph.ID) bool {
			p.visit(p.object(d), reached)
			return true
		})
	}
}
