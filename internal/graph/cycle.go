package graph

// Cycles lists the reference cycles: each is a set of nodes that can all be
// reached from one another over owner references, in object.Compare order. A node
// that owns itself is a cycle of one. Cycles are sorted by their first member.
//
// It is Tarjan's algorithm without recursion: a chain of a million owners must
// not overflow the stack.
func (g *Graph) Cycles() [][]ID {
	t := tarjan{g: g, index: map[ID]int{}, low: map[ID]int{}, onStack: map[ID]bool{}}
	for id := range g.All {
		if _, ok := t.index[id]; !ok && len(g.node(id).object.Owners) > 0 {
			t.from(id)
		}
	}
	firsts := make([]ID, len(t.cycles))
	byFirst := make(map[ID][]ID, len(t.cycles))
	for i, c := range t.cycles {
		g.Sort(c)
		firsts[i] = c[0]
		byFirst[c[0]] = c
	}
	g.Sort(firsts)
	for i, id := range firsts {
		t.cycles[i] = byFirst[id]
	}
	return t.cycles
}

type tarjan struct {
	g       *Graph
	index   map[ID]int
	low     map[ID]int
	onStack map[ID]bool
	stack   []ID
	cycles  [][]ID
}

type frame struct {
	id     ID
	owners []ID
	next   int
}

func (t *tarjan) from(root ID) {
	frames := []frame{t.enter(root)}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if f.next < len(f.owners) {
			owner := f.owners[f.next]
			f.next++
			if _, met := t.index[owner]; !met {
				frames = append(frames, t.enter(owner))
			} else if t.onStack[owner] {
				t.low[f.id] = min(t.low[f.id], t.index[owner])
			}
			continue
		}
		id := f.id
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			below := frames[len(frames)-1].id
			t.low[below] = min(t.low[below], t.low[id])
		}
		if t.low[id] == t.index[id] {
			t.leave(id)
		}
	}
}

func (t *tarjan) enter(id ID) frame {
	t.index[id] = len(t.index)
	t.low[id] = t.index[id]
	t.onStack[id] = true
	t.stack = append(t.stack, id)
	return frame{id: id, owners: t.g.OwnersOf(id)}
}

func (t *tarjan) leave(id ID) {
	var component []ID
	for {
		top := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.onStack[top] = false
		component = append(component, top)
		if top == id {
			break
		}
	}
	if len(component) > 1 || t.g.node(id).object.RefersTo(t.g.node(id).object.UID) {
		t.cycles = append(t.cycles, component)
	}
}
