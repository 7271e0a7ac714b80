package graph

import (
	"iter"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Direction says which links a walk follows.
type Direction uint8

// The directions of a walk.
const (
	ToOwners Direction = iota
	ToDependents
	Both
)

// Visit is one node met on a walk.
type Visit struct {
	ID ID
	// Depth is the number of links from the nearest start.
	Depth int
}

// Walk returns the nodes reachable from starts, breadth first, each once, including starts, up to a
// depth (0: any depth). Neighbours are visited in object.Compare order.
func (g *Graph) Walk(starts []ID, direction Direction, depth int) []Visit {
	seen := make(map[ID]bool, len(starts))
	var visits []Visit
	for _, id := range starts {
		if !seen[id] {
			seen[id] = true
			visits = append(visits, Visit{ID: id})
		}
	}
	for i := 0; i < len(visits); i++ {
		v := visits[i]
		if depth > 0 && v.Depth == depth {
			continue
		}
		for _, id := range g.neighbours(v.ID, direction) {
			if !seen[id] {
				seen[id] = true
				visits = append(visits, Visit{ID: id, Depth: v.Depth + 1})
			}
		}
	}
	return visits
}

func (g *Graph) neighbours(id ID, direction Direction) []ID {
	var ids []ID
	if direction != ToDependents {
		ids = append(ids, g.OwnersOf(id)...)
	}
	if direction != ToOwners {
		ids = append(ids, g.Dependents(id)...)
	}
	return ids
}

// OwnersOf returns the owners that are in the graph, in the order of the references.
func (g *Graph) OwnersOf(id ID) []ID {
	var ids []ID
	for i, ref := range g.node(id).object.Owners {
		if hasUID(g.node(id).object.Owners[:i], ref.UID) {
			continue
		}
		if owner, ok := g.Find(ref.UID); ok {
			ids = append(ids, owner)
		}
	}
	return ids
}

// Cycles returns the reference cycles: the strongly connected components over owner references,
// each in object.Compare order. A node that owns itself is a cycle of one. Cycles are sorted by
// their first member.
func (g *Graph) Cycles() [][]ID {
	var firsts []ID
	byFirst := map[ID][]ID{}
	Components(int(g.nodes.next), g.withOwners, g.OwnersOf, func(component []ID) {
		if len(component) == 1 && !g.ownsItself(component[0]) {
			return
		}
		g.Sort(component)
		firsts = append(firsts, component[0])
		byFirst[component[0]] = component
	})
	g.Sort(firsts)
	return object.Mapped(firsts, func(id ID) []ID { return byFirst[id] })
}

// withOwners yields the nodes with owner references.
func (g *Graph) withOwners(yield func(ID) bool) {
	for id := range g.All {
		if len(g.node(id).object.Owners) > 0 && !yield(id) {
			return
		}
	}
}

func (g *Graph) ownsItself(id ID) bool {
	o := g.node(id).object
	return o.RefersTo(o.UID)
}

// Components calls found for each strongly connected component of the vertices that are reachable
// from the roots over owners. Vertices are numbers below n. A component is found after those that
// it can reach: owners come first. found may keep the slice.
//
// It is Tarjan's algorithm without recursion: a chain of a million owners must not overflow the
// stack.
func Components[V ~int | ~int32 | ~uint32](n int, roots iter.Seq[V], owners func(V) []V, found func([]V)) {
	t := tarjan[V]{number: make([]int, n), low: make([]int, n), onStack: make([]bool, n), owners: owners, found: found}
	for v := range roots {
		if t.number[v] == 0 {
			t.from(v)
		}
	}
}

type tarjan[V ~int | ~int32 | ~uint32] struct {
	// number is the position of a vertex in the order of visits, from 1; 0 for not yet. low is the
	// lowest number that is known to be reachable from it within its component.
	number, low []int
	onStack     []bool
	stack       []V
	met         int
	owners      func(V) []V
	found       func([]V)
}

type frame[V ~int | ~int32 | ~uint32] struct {
	vertex V
	owners []V
	next   int
}

// from visits everything that root reaches. frames is the stack of a recursive visit.
func (t *tarjan[V]) from(root V) {
	frames := []frame[V]{t.enter(root)}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if f.next < len(f.owners) {
			owner := f.owners[f.next]
			f.next++
			if t.number[owner] == 0 {
				frames = append(frames, t.enter(owner))
			} else if t.onStack[owner] {
				t.low[f.vertex] = min(t.low[f.vertex], t.number[owner])
			}
			continue
		}
		v := f.vertex
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			below := frames[len(frames)-1].vertex
			t.low[below] = min(t.low[below], t.low[v])
		}
		if t.low[v] == t.number[v] {
			t.leave(v)
		}
	}
}

func (t *tarjan[V]) enter(v V) frame[V] {
	t.met++
	t.number[v], t.low[v] = t.met, t.met
	t.onStack[v] = true
	t.stack = append(t.stack, v)
	return frame[V]{vertex: v, owners: t.owners(v)}
}

// leave reports the component of v: the vertices on the stack from v on.
func (t *tarjan[V]) leave(v V) {
	var component []V
	for {
		top := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.onStack[top] = false
		component = append(component, top)
		if top == v {
			break
		}
	}
	t.found(component)
}
