package layout

import "slices"

// forest places each box next to one chosen owner, which makes trees of the graph. Nodes beyond the
// boxes are invisible containers: for the trees of a connected part, and for the parts of a group.
type forest struct {
	*graph
	// beside is the edge from the owner that each box is placed next to, or none.
	beside []int32
	// below are the nodes to the right of a node, from top to bottom.
	below [][]int32
	// top is the container of each group.
	top []int32
	// tied marks nodes with an end of an extra edge at or below them.
	tied []bool
	placement
}

func newForest(g *graph) *forest {
	f := &forest{graph: g}
	f.choose()
	f.gather()
	f.tie()
	f.settle()
	return f
}

// choose selects for each box the owner furthest to the right, so that the line is short; among
// equals the first.
func (f *forest) choose() {
	f.beside = slices.Repeat([]int32{none}, len(f.Boxes))
	for i := range f.Edges {
		e, d := int32(i), f.Edges[i].Dependent
		if f.closes[e] || !f.within(e) {
			continue
		}
		if have := f.beside[d]; have == none || f.rank[f.Edges[i].Owner] > f.rank[f.Edges[have].Owner] {
			f.beside[d] = e
		}
	}
}

// gather builds trees, connected parts and groups. Boxes without edges come last in a group.
func (f *forest) gather() {
	n := len(f.Boxes)
	f.below = make([][]int32, n, n+f.Groups)
	part := f.parts()
	roots := make([][]int32, n)
	for i := range f.Boxes {
		if e := f.beside[i]; e != none {
			owner := f.Edges[e].Owner
			f.below[owner] = append(f.below[owner], int32(i))
		} else {
			roots[part[i]] = append(roots[part[i]], int32(i))
		}
	}
	trees, alone := make([][]int32, f.Groups), make([][]int32, f.Groups)
	for i := range f.Boxes {
		group := f.Boxes[i].Group
		switch r := roots[i]; {
		case len(r) == 1 && len(f.below[r[0]]) == 0:
			alone[group] = append(alone[group], r[0])
		case len(r) == 1:
			trees[group] = append(trees[group], r[0])
		case len(r) > 1:
			trees[group] = append(trees[group], f.hold(r))
		}
	}
	f.top = make([]int32, f.Groups)
	for group := range f.top {
		f.top[group] = f.hold(append(trees[group], alone[group]...))
	}
}

// hold adds an invisible container.
func (f *forest) hold(nodes []int32) int32 {
	f.below = append(f.below, nodes)
	return int32(len(f.below) - 1)
}

// drawn reports whether a node is a box.
func (f *forest) drawn(node int32) bool { return int(node) < len(f.Boxes) }

// parts returns for each box the first box of its connected part within the group.
func (f *forest) parts() []int32 {
	part := make([]int32, len(f.Boxes))
	for i := range part {
		part[i] = int32(i)
	}
	find := func(i int32) int32 {
		for part[i] != i {
			part[i] = part[part[i]]
			i = part[i]
		}
		return i
	}
	for i, e := range f.Edges {
		if f.within(int32(i)) {
			a, b := find(int32(e.Owner)), find(int32(e.Dependent))
			part[max(a, b)] = min(a, b)
		}
	}
	for i := range part {
		part[i] = find(int32(i))
	}
	return part
}

// extra reports whether an edge is within a group, but not in a tree.
func (f *forest) extra(e int32) bool {
	return f.within(e) && f.beside[f.Edges[e].Dependent] != e
}

// tie computes tied.
func (f *forest) tie() {
	f.tied = make([]bool, len(f.below))
	for i := range f.Edges {
		if f.extra(int32(i)) {
			f.tied[f.Edges[i].Owner], f.tied[f.Edges[i].Dependent] = true, true
		}
	}
	for _, i := range slices.Backward(f.topological) {
		if e := f.beside[i]; e != none && f.tied[i] {
			f.tied[f.Edges[e].Owner] = true
		}
	}
	for node := len(f.Boxes); node < len(f.below); node++ {
		f.tied[node] = slices.ContainsFunc(f.below[node], func(i int32) bool { return f.tied[i] })
	}
}
