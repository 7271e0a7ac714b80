package graph

import "iter"

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
	// number is the position of a vertex in the order of visits, from 1; 0 for not yet.
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
