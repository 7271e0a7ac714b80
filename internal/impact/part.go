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

// SmallPart is the Part of a Region of at most so many objects; nil if more are reached, or where
// objects share a uid. What is larger is not followed to its end.
func (m *Map) SmallPart(most int, objects ...*object.Object) *snapshot.Snapshot {
	if m.shared || len(objects) > most {
		return nil
	}
	p := m.start(objects)
	for len(p.open) > 0 {
		if p.within > most {
			return nil
		}
		p.next()
	}
	return m.cut(p)
}

// Region is what deletes of some objects reach, and what decides about it. It is for one
// goroutine.
type Region struct{ part }

// Region is that of deletes of these objects. Where objects share a uid it is the whole
// snapshot.
func (m *Map) Region(objects ...*object.Object) *Region {
	if !m.shared {
		return &Region{part: m.grow(objects)}
	}
	all := part{Map: m, depths: depthsIn(m.snap), within: len(m.snap.Objects)}
	for _, o := range m.snap.Objects {
		all.set(o, reached)
	}
	return &Region{part: all}
}

// Size is the number of the objects to which something may happen.
func (r *Region) Size() int { return r.within }

// Any reports whether there is an object to which something may happen and of which a
// condition holds.
func (r *Region) Any(holds func(*object.Object) bool) bool {
	for o := range r.atLeast(reached) {
		if holds(o) {
			return true
		}
	}
	return false
}

// Has reports whether something may happen to an object.
func (r *Region) Has(o *object.Object) bool { return r.at(o) == reached }

// Objects lists those to which something may happen, in object.Compare order.
func (r *Region) Objects() []*object.Object {
	return slices.AppendSeq(make([]*object.Object, 0, r.within), r.atLeast(reached))
}

// Members lists the objects of Part, in object.Compare order.
func (r *Region) Members() []*object.Object {
	if r.shared {
		return r.Map.snap.Objects
	}
	r.addEverywhere()
	return slices.AppendSeq(make([]*object.Object, 0, r.size), r.All())
}

// Part is the snapshot reduced to the region.
func (r *Region) Part() *snapshot.Snapshot {
	if r.shared {
		return r.Map.snap
	}
	return r.cut(r.part)
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

// grow finds the part of these objects.
func (m *Map) grow(objects []*object.Object) part {
	p := m.start(objects)
	for len(p.open) > 0 {
		p.next()
	}
	return p
}

// start is a part that has not grown yet.
func (m *Map) start(objects []*object.Object) part {
	p := m.empty()
	for _, o := range objects {
		p.visit(o, reached)
	}
	return p
}

// next goes on from one object.
func (p *part) next() {
	o := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	p.spread(o)
}

// cut makes a snapshot of a part.
func (m *Map) cut(p part) *snapshot.Snapshot {
	p.addEverywhere()
	return m.snap.With(slices.AppendSeq(make([]*object.Object, 0, p.size), p.All()))
}

// addEverywhere adds what is looked at whatever is deleted, and what it goes with: without its
// owners it would be garbage.
func (p *part) addEverywhere() {
	open := slices.Clone(p.everywhere)
	for len(open) > 0 {
		o := open[len(open)-1]
		open = open[:len(open)-1]
		if p.at(o) == 0 {
			p.set(o, decides)
			open = append(append(open, p.owners(o)...), p.containers(o)...)
		}
	}
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
	depths
	open []*object.Object
	// within is the number of those that are reached. passed is a list that is used again.
	within int
	passed []*object.Object
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
	if p.at(o) < d {
		if d == reached {
			p.within++
		}
		p.set(o, d)
		p.open = append(p.open, o)
	}
}

func (p *part) spread(o *object.Object) {
	for _, x := range p.owners(o) {
		p.visit(x, decides)
	}
	p.passed = p.appendContainers(p.passed[:0], o)
	for _, x := range p.passed {
		p.visit(x, decides)
	}
	if p.at(o) != reached {
		return
	}
	p.visitSiblings(o)
	for _, x := range p.Below(o) {
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
