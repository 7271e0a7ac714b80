package reach

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Part returns the snapshot reduced to the objects that can decide about these objects and about the
// effects of deleting them. It returns the whole snapshot if objects share a uid.
func (m *Map) Part(objects ...*object.Object) *snapshot.Snapshot {
	if m.shared {
		return m.snap
	}
	return m.cut(m.grow(objects))
}

// SmallPart returns the Part for a Region of at most most objects. It returns nil if more are
// reached, or if objects share a uid. It stops searching at the limit.
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

// Region is the set of objects that deletes of some objects reach, with those that decide about them.
// It is not safe for concurrent use.
type Region struct{ part }

// Region returns the region for deletes of these objects. It has the whole snapshot if objects share
// a uid.
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

// Size returns the number of objects that may be affected.
func (r *Region) Size() int { return r.within }

// Any reports whether an object that satisfies holds may be affected.
func (r *Region) Any(holds func(*object.Object) bool) bool {
	for o := range r.atLeast(reached) {
		if holds(o) {
			return true
		}
	}
	return false
}

// Has reports whether an object may be affected.
func (r *Region) Has(o *object.Object) bool { return r.at(o) == reached }

// Objects lists the objects that may be affected, in object.Compare order.
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

// Part returns the snapshot reduced to the region.
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

// grow returns the complete part for these objects.
func (m *Map) grow(objects []*object.Object) part {
	p := m.start(objects)
	for len(p.open) > 0 {
		p.next()
	}
	return p
}

// start returns a part with only these objects, still to be grown.
func (m *Map) start(objects []*object.Object) part {
	p := m.empty()
	for _, o := range objects {
		p.visit(o, reached)
	}
	return p
}

// next visits the neighbours of one open object.
func (p *part) next() {
	o := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	p.spread(o)
}

// cut returns the snapshot reduced to a part.
func (m *Map) cut(p part) *snapshot.Snapshot {
	p.addEverywhere()
	return m.snap.With(slices.AppendSeq(make([]*object.Object, 0, p.size), p.All()))
}

// addEverywhere adds the objects that controllers read whatever is deleted, with their owners and
// containers. Without its owners, such an object would be garbage.
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

// depth is why an object is in a part.
type depth uint8

const (
	// decides: its existence decides about others.
	decides depth = iota + 1
	// reached: something may happen to it.
	reached
)

// part is the set of objects of a part while it grows.
type part struct {
	*Map
	depths
	open []*object.Object
	// within is the number of reached objects. passed is a reused buffer.
	within int
	passed []*object.Object
	// asked has the unseen owners after a visit to their dependents. using has a namespace after a
	// visit to its claims because of a pod with unknown volumes. used has a namespace after a visit
	// to such pods because of a claim.
	asked       map[graph.ID]bool
	using, used map[string]bool
}

// visit adds an object, or raises its depth. A restless object is always reached.
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

// spread visits the objects that decide about o. If o is reached, it also visits those that a
// delete of o reaches, and those that hold or are held by o.
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

// visitSiblings visits the objects that refer to an unseen owner of o: their references decide where
// the collector looks for it. (spec §3.6.4)
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

// About returns the snapshot reduced to the objects that decide whether and when a background delete
// of deleted also deletes target. Unlike Part, it leaves out other objects that the delete reaches:
// siblings of target, and the rest of its namespace. It returns the whole snapshot if objects share a
// uid.
func (m *Map) About(target, deleted *object.Object) *snapshot.Snapshot {
	if m.shared {
		return m.snap
	}
	a := about{part: m.empty(), deleted: deleted, ordered: map[string]bool{}, onNodes: map[onNode]bool{}, labelled: map[labelled]bool{}}
	a.visit(target, reached)
	a.visit(deleted, decides)
	for len(a.open) > 0 {
		o := a.open[len(a.open)-1]
		a.open = a.open[:len(a.open)-1]
		a.spread(o)
	}
	return m.cut(a.part)
}

// about is the part that About builds. In it, an object is reached if it must be gone before
// something happens to the target. For an object that only decides, the start of its deletion is
// enough.
type about struct {
	part
	deleted *object.Object
	// ordered has the namespaces with pods that must be gone before something happens to the target.
	// onNodes and labelled have the kinds of pods already visited in them.
	ordered  map[string]bool
	onNodes  map[onNode]bool
	labelled map[labelled]bool
}

// spread visits the objects that decide when o is deleted.
func (a *about) spread(o *object.Object) {
	for _, x := range a.owners(o) {
		a.visit(x, reached)
	}
	for _, x := range a.containers(o) {
		switch {
		case x.Is(object.Namespace) && x.Name == o.Namespace:
			a.visit(x, decides)
			if !o.Is(object.Pod) {
				a.order(x)
			}
		case x.Is(object.CRD) && !a.mayGo(x):
			a.visit(x, decides)
		default:
			a.visit(x, reached)
		}
	}
	a.visitSiblings(o)
	if a.at(o) != reached && a.unwatched[o.UID] == nil {
		return
	}
	if a.waits(o) {
		for _, x := range a.Below(o) {
			a.visit(x, reached)
		}
	}
	for _, x := range a.holders(o, a.used) {
		a.visit(x, reached)
	}
}

// order visits the pods of a namespace that may be deleted: its other content waits for them.
// (KEP-5080)
func (a *about) order(namespace *object.Object) {
	if a.ordered[namespace.Name] || !a.mayGo(namespace) {
		return
	}
	a.ordered[namespace.Name] = true
	for _, x := range a.Map.snap.In(object.Pod.GroupResource(), namespace.Name) {
		if a.first(x) {
			a.visit(x, reached)
		}
	}
}

// first reports whether a pod may stay although all pods visited before go. A pod without finalizers
// can stay only because of its kubelet, or because a webhook that selects it refuses. One pod per
// node and one per set of labels are therefore enough.
func (a *about) first(pod *object.Object) bool {
	facts := pod.Pod()
	if facts == nil || a.restless[pod] || len(pod.Finalizers()) > 0 {
		return true
	}
	node := onNode{namespace: pod.Namespace, node: facts.NodeName, phase: facts.Phase, mirror: facts.Mirror, whole: facts.VolumesKnown, grace: -1}
	if facts.TerminationGracePeriod != nil {
		node.grace = *facts.TerminationGracePeriod
	}
	labels := labelled{namespace: pod.Namespace, labels: pod.Labels}
	if a.onNodes[node] && a.labelled[labels] {
		return false
	}
	a.onNodes[node], a.labelled[labels] = true, true
	return true
}

// onNode identifies pods that their kubelet ends alike. labelled identifies pods that the same
// webhooks select.
type (
	onNode struct {
		namespace, node, phase string
		mirror, whole          bool
		grace                  int64
	}
	labelled struct {
		namespace string
		labels    object.Labels
	}
)

// mayGo reports whether the delete may affect an object that no other object waits for.
func (a *about) mayGo(o *object.Object) bool {
	return o == a.deleted || a.restless[o] || len(o.Owners) > 0 || len(a.leaders[o]) > 0
}

// waits reports whether other objects may have to be deleted before o is, or must exist for the
// collector to consider o.
func (a *about) waits(o *object.Object) bool {
	return a.restless[o] || Container(o) || a.unwatched[o.UID] != nil
}

// empty returns a part with only the nodes. Whether a node stays decides about pods that have lost
// theirs.
func (m *Map) empty() part {
	p := part{Map: m, depths: depthsIn(m.snap), asked: map[graph.ID]bool{}, using: map[string]bool{}, used: map[string]bool{}}
	for _, o := range m.everywhere {
		if o.Is(object.Node) {
			p.visit(o, decides)
		}
	}
	return p
}
