package impact

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Positions are the objects of a Map by their positions in the snapshot, for those who ask about
// all of them: a million answers by number cost less than by pointer or uid. They are for one
// goroutine.
type Positions struct {
	m       *Map
	objects []*object.Object
	// ids are the nodes of the objects, 0 where the graph has none; at are the positions of the
	// nodes, negative where the snapshot has no object.
	ids []graph.ID
	at  []int32
	// followers and leaders are those of the Map.
	followers, leaders map[int][]int
	// ownersOf are those of the leaf of an outline that was asked about last: its siblings have the
	// same.
	ownersOf struct {
		leaf *object.Object
		at   []int
	}
	// settled and leaves are the objects that are Settled, and those that have nobody below.
	settled, leaves []bool
	// content are the objects of each namespace, instances those of each definition; pods are
	// those on a node, nil until somebody asks.
	content   map[string][]span
	instances map[*object.Object][]span
	pods      map[string][]int32
}

// span are the positions from one on, and before another one.
type span struct{ from, to int32 }

// Positions numbers the objects of the snapshot.
func (m *Map) Positions() *Positions {
	n := len(m.snap.Objects)
	p := &Positions{
		m: m, objects: m.snap.Objects, ids: make([]graph.ID, n), at: make([]int32, 1, n+1), settled: make([]bool, n), leaves: make([]bool, n),
		followers: make(map[int][]int, len(m.followers)), leaders: make(map[int][]int, len(m.leaders)),
		content: map[string][]span{}, instances: map[*object.Object][]span{},
	}
	for i, o := range p.objects {
		p.settled[i] = m.Settled(o)
		if id, ok := m.node(o); ok {
			p.ids[i] = id
			p.place(id, i)
		}
	}
	p.enterFollowers()
	p.enterContent()
	p.findLeaves()
	return p
}

func (p *Positions) enterFollowers() {
	for leader, followers := range p.m.followers {
		i := p.Of(leader)
		for _, x := range followers {
			f := p.Of(x)
			p.followers[i], p.leaders[f] = append(p.followers[i], f), append(p.leaders[f], i)
		}
	}
}

// place notes the position of a node.
func (p *Positions) place(id graph.ID, i int) {
	for int(id) >= len(p.at) {
		p.at = append(p.at, -1)
	}
	p.at[id] = int32(i)
}

// enterContent finds what is in namespaces and of definitions: the objects of a kind in a
// namespace are neighbours.
func (p *Positions) enterContent() {
	from := int32(0)
	for same := range p.m.snap.ByKind() {
		to := from + int32(len(same))
		if d := p.m.definitionOf(same[0].APIVersion, same[0].Kind); d != nil {
			p.instances[d] = append(p.instances[d], span{from, to})
		}
		for at := from; at < to; {
			end, namespace := at+1, p.objects[at].Namespace
			for end < to && p.objects[end].Namespace == namespace {
				end++
			}
			if namespace != "" {
				p.content[namespace] = append(p.content[namespace], span{at, end})
			}
			at = end
		}
		from = to
	}
}

func (p *Positions) findLeaves() {
	for i := range p.leaves {
		p.leaves[i] = p.m.outline.isLeaf(i) || (p.ids[i] == 0 || p.m.graph.DependentCount(p.ids[i]) == 0) && len(p.m.outline.leavesOf(p.objects[i])) == 0
	}
	for leader := range p.followers {
		p.leaves[leader] = false
	}
	for i, o := range p.objects {
		if p.leaves[i] && (Container(o) || o.Is(object.Node) || len(p.m.asking) > 0 && len(p.m.asking[o.UID]) > 0) {
			p.leaves[i] = false
		}
	}
}

// Len is the number of the objects.
func (p *Positions) Len() int { return len(p.objects) }

// Of is the position of an object of the snapshot.
func (p *Positions) Of(o *object.Object) int { return p.m.snap.Place(o) }

// Settled is that of the Map.
func (p *Positions) Settled(i int) bool { return p.settled[i] }

// Leaf reports whether nobody is below an object, and nobody can be: it is no namespace,
// definition or node.
func (p *Positions) Leaf(i int) bool { return p.leaves[i] }

// EachOwner calls yield for the Owners of a settled object, in no order.
func (p *Positions) EachOwner(i int, yield func(int)) {
	o, id := p.objects[i], p.ids[i]
	switch {
	case len(o.Owners) == 0:
		for _, x := range p.leaders[i] {
			yield(x)
		}
		return
	case p.m.outline.isLeaf(i):
		if !alike(p.ownersOf.leaf, o) {
			p.ownersOf.leaf, p.ownersOf.at = o, p.ownersOf.at[:0]
			for _, x := range p.m.Owners(o) {
				p.ownersOf.at = append(p.ownersOf.at, p.Of(x))
			}
		}
		for _, x := range p.ownersOf.at {
			yield(x)
		}
		return
	case id == 0 || p.m.graph.Virtual(id):
		for _, x := range p.m.Owners(o) {
			yield(p.Of(x))
		}
		return
	}
	p.m.graph.EachOwner(id, func(owner graph.ID) bool {
		yield(int(p.at[owner]))
		return true
	})
}

// EachBelow calls yield for the objects that go with a settled one, if nothing keeps them: those
// that refer to it or follow it, and its content. It may do so twice for one.
func (p *Positions) EachBelow(i int, yield func(int)) {
	if p.leaves[i] {
		return
	}
	o := p.objects[i]
	if id := p.ids[i]; id != 0 {
		p.m.graph.EachDependent(id, func(d graph.ID) bool {
			yield(int(p.at[d]))
			return true
		})
	}
	each(p.m.outline.leavesOf(o), yield)
	switch {
	case o.Is(object.Namespace):
		each(p.content[o.Name], yield)
	case o.Is(object.CRD):
		each(p.instances[o], yield)
	case o.Is(object.Node):
		for _, x := range p.podsOn(o.Name) {
			yield(int(x))
		}
	}
	for _, x := range p.followers[i] {
		yield(x)
	}
	if len(p.m.asking) > 0 {
		for _, x := range p.m.asking[o.UID] {
			yield(p.Of(x))
		}
	}
}

func each(spans []span, yield func(int)) {
	for _, s := range spans {
		for i := s.from; i < s.to; i++ {
			yield(int(i))
		}
	}
}

// podsOn are the pods on a node.
func (p *Positions) podsOn(node string) []int32 {
	if p.pods == nil {
		p.pods = make(map[string][]int32, len(p.m.nodes))
		for i, o := range p.objects {
			if facts := o.Pod(); facts != nil && facts.NodeName != "" {
				p.pods[facts.NodeName] = append(p.pods[facts.NodeName], int32(i))
			}
		}
	}
	return p.pods[node]
}

// EachLeader calls yield for each object with which somebody goes who has owners of his own, and
// goes though these stay.
func (p *Positions) EachLeader(yield func(int)) {
	for leader, followers := range p.followers {
		if slices.ContainsFunc(followers, func(f int) bool { return len(p.objects[f].Owners) > 0 }) {
			yield(leader)
		}
	}
}
