package draw

import "slices"

// forest places each box next to one chosen owner, which makes trees of the graph. Nodes beyond the
// boxes are invisible containers: for the trees of a connected part, and for the parts of a group.
type forest struct {
	*layoutGraph
	// parentEdge is the edge from the owner that each box is placed next to, or none.
	parentEdge []int32
	// below are the nodes to the right of a node, from top to bottom.
	below [][]int32
	// top is the container of each group.
	top []int32
	// tied marks nodes with an end of an extra edge at or below them.
	tied []bool
	placement
}

// choose selects for each box the owner furthest to the right, so that the line is short; among
// equals the first.
func (f *forest) choose() {
	f.parentEdge = slices.Repeat([]int32{noBox}, len(f.Boxes))
	for i := range f.Edges {
		e, d := int32(i), f.Edges[i].Dependent
		if f.closes[e] || !f.within(e) {
			continue
		}
		if have := f.parentEdge[d]; have == noBox || f.rank[f.Edges[i].Owner] > f.rank[f.Edges[have].Owner] {
			f.parentEdge[d] = e
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
		if e := f.parentEdge[i]; e != noBox {
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
			trees[group] = append(trees[group], f.addContainer(r))
		}
	}
	f.top = make([]int32, f.Groups)
	for group := range f.top {
		f.top[group] = f.addContainer(append(trees[group], alone[group]...))
	}
}

// addContainer adds an invisible container of nodes, and returns its number.
func (f *forest) addContainer(nodes []int32) int32 {
	f.below = append(f.below, nodes)
	return int32(len(f.below) - 1)
}

// isBox reports whether a node is a box.
func (f *forest) isBox(node int32) bool { return int(node) < len(f.Boxes) }

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

// isExtra reports whether an edge is within a group, but not in a tree.
func (f *forest) isExtra(e int32) bool {
	return f.within(e) && f.parentEdge[f.Edges[e].Dependent] != e
}

// markTied marks the tied nodes, from the ends of extra edges up to the roots and containers.
func (f *forest) markTied() {
	f.tied = make([]bool, len(f.below))
	for i := range f.Edges {
		if f.isExtra(int32(i)) {
			f.tied[f.Edges[i].Owner], f.tied[f.Edges[i].Dependent] = true, true
		}
	}
	for _, i := range slices.Backward(f.topological) {
		if e := f.parentEdge[i]; e != noBox && f.tied[i] {
			f.tied[f.Edges[e].Owner] = true
		}
	}
	for node := len(f.Boxes); node < len(f.below); node++ {
		f.tied[node] = slices.ContainsFunc(f.below[node], func(i int32) bool { return f.tied[i] })
	}
}

// placement contains the positions of nodes: rows in pixels from the top of the unit, columns by
// number.
type placement struct {
	// height and depth are the size of a node with everything below it, in pixels and in columns.
	height []int
	depth  []int32
	// rowOffset and columnOffset are the position of a node relative to its parent; ownRow is the
	// offset of the box itself.
	rowOffset, ownRow []int
	columnOffset      []int32
	// lane is the height of the line to dependents in further columns, from the top of a node; 0 if
	// there are none.
	lane []int
	// row is the top of a node, y that of its box, and at its column.
	row, y []int
	at     []int32
	// reading lists the boxes in reading order.
	reading []int
	// areaRow and areaHeight are indexed by group; channel is the height of lines above its boxes.
	areaRow, areaHeight, channel []int
	// unitHeight and columns are indexed by unit.
	unitHeight []int
	columns    []int32
}

// maxColumnHeight is the height above which dependents of one owner are broken into columns.
const maxColumnHeight = 800

// place computes rows and columns.
func (f *forest) place() {
	n := len(f.below)
	f.placement = placement{
		height: make([]int, n), depth: make([]int32, n),
		rowOffset: make([]int, n), ownRow: make([]int, n), columnOffset: make([]int32, n),
		lane: make([]int, n), row: make([]int, n), y: make([]int, n), at: make([]int32, n),
		reading: make([]int, 0, len(f.Boxes)),
		areaRow: make([]int, f.Groups), areaHeight: make([]int, f.Groups), channel: make([]int, f.Groups),
		unitHeight: make([]int, len(f.units)), columns: make([]int32, len(f.units)),
	}
	broadest := make([]int, f.Groups)
	for _, b := range f.Boxes {
		broadest[b.Group] = max(broadest[b.Group], b.W)
	}
	for group, node := range f.top {
		f.measure(node, broadest[group]+laneStart+laneEnd, len(f.units[f.unit[group]]) == 1)
	}
	for u, groups := range f.units {
		row := 0
		for _, group := range groups {
			f.areaRow[group] = row
			f.channel[group] = row + f.Header + areaPad/2
			f.locate(f.top[group], 0, row+f.Header+areaPad)
			f.areaHeight[group] = f.Header + areaPad + f.height[f.top[group]] + areaPad
			row += f.areaHeight[group] + areaGap
		}
		f.unitHeight[u] = row - areaGap
	}
	slices.SortStableFunc(f.reading, func(a, b int) int { return f.Boxes[a].Group - f.Boxes[b].Group })
	for i := range f.Boxes {
		u := f.unitOf(int32(i))
		f.columns[u] = max(f.columns[u], f.at[i]+1)
	}
}

// measure computes the size of a node. wide is the approximate width of columns. With breaks,
// columns may be broken, which requires a group with columns of its own.
func (f *forest) measure(node int32, wide int, breaks bool) {
	for _, i := range f.below[node] {
		f.measure(i, wide, breaks)
	}
	height, depth := f.placeChildren(node, wide, breaks)
	if f.isBox(node) {
		height = max(height, f.ownRow[node]+f.Boxes[node].H)
		depth++
	}
	f.height[node], f.depth[node] = height, depth
}

// placeChildren places the children of a node below each other, or in several columns if that is
// better. Tied children stay in the first column, to the right of all their owners. It returns the
// height of the children in pixels and their depth in columns.
//
//	tied t, others a to d: t in column 0; below it the lane of the line to the other columns; below
//	that a and b in column 0, c and d in column 1
func (f *forest) placeChildren(node int32, wide int, breaks bool) (height int, depth int32) {
	nodes := f.below[node]
	plain := 0
	for _, i := range nodes {
		plain += f.height[i] + f.gap(node, i)
	}
	isTop := int(node) >= len(f.below)-f.Groups
	joinsTied := !f.isBox(node) && f.tied[node] && !isTop // a container of trees that extra edges connect
	if !breaks || len(nodes) < 2 || f.isBox(node) && plain < maxColumnHeight || joinsTied {
		return f.pile(node, nodes, 0)
	}
	var tied, free []int32
	for _, i := range nodes {
		if f.isBox(node) && f.tied[i] {
			tied = append(tied, i)
		} else {
			free = append(free, i)
		}
	}
	items := make([]pageItem, len(free))
	for i, x := range free {
		items[i] = pageItem{width: int(f.depth[x]) * wide, height: f.height[x], gap: f.gap(node, x)}
	}
	ends := fold(items, 0)
	if len(ends) < 2 {
		return f.pile(node, nodes, 0)
	}
	height, depth = f.pile(node, tied, 0)
	start := 0
	if len(tied) > 0 {
		start = height + boxGap
	}
	if f.isBox(node) {
		f.lane[node] = start + laneRoom/2
		start += laneRoom
		if len(tied) == 0 {
			f.ownRow[node] = start
		}
	}
	column, from := int32(0), 0
	for _, end := range ends {
		bottom, columns := f.pile(node, free[from:end], start)
		for _, i := range free[from:end] {
			f.columnOffset[i] = column
		}
		height = max(height, bottom)
		column, from = column+columns, end
	}
	return height, max(depth, column)
}

// pile places nodes below each other, and returns their end and depth.
func (f *forest) pile(node int32, nodes []int32, row int) (bottom int, depth int32) {
	bottom = row
	for k, i := range nodes {
		if k > 0 {
			row += f.gap(node, i)
		}
		f.rowOffset[i], f.columnOffset[i] = row, 0
		row += f.height[i]
		bottom, depth = row, max(depth, f.depth[i])
	}
	return bottom, depth
}

// gap returns the distance above a node: trees are further apart than boxes.
func (f *forest) gap(beside, node int32) int {
	if !f.isBox(beside) && f.depth[node] > 1 {
		return treeGap
	}
	return boxGap
}

// locate assigns rows and columns to a node and everything below it.
func (f *forest) locate(node, column int32, row int) {
	f.row[node] = row
	if f.isBox(node) {
		f.y[node], f.at[node] = row+f.ownRow[node], column
		if len(f.units[f.unitOf(node)]) > 1 {
			f.at[node] = f.rank[node]
		}
		f.reading = append(f.reading, int(node))
		column++
	}
	for _, i := range f.below[node] {
		f.locate(i, column+f.columnOffset[i], row+f.rowOffset[i])
	}
}

// anchor returns the height of line ends at a box.
func (f *forest) anchor(box int) int { return f.y[box] + min(f.Anchor, f.Boxes[box].H/2) }

// sweeps is the number of sorting passes.
const sweeps = 2

// settle moves trees and siblings with extra edges closer to the other ends: each is sorted by the
// mean position of these. Others keep their positions.
func (f *forest) settle() {
	if !slices.Contains(f.tied, true) {
		return
	}
	place := make([]int, len(f.below))
	for range sweeps {
		count := 0
		for _, node := range f.top {
			f.number(node, place, &count)
		}
		sum, ends := f.sumPositions(place)
		for node := range f.below {
			if f.tied[node] {
				slices.SortStableFunc(f.below[node], func(a, b int32) int {
					// Means are compared as fractions, without rounding.
					return mean(a, place, sum, ends)*weight(b, ends) - mean(b, place, sum, ends)*weight(a, ends)
				})
			}
		}
	}
}

// number numbers the nodes in reading order.
func (f *forest) number(node int32, place []int, count *int) {
	place[node] = *count
	*count++
	for _, i := range f.below[node] {
		f.number(i, place, count)
	}
}

// sumPositions sums, for each node, the positions of the other ends of extra edges at or below it.
func (f *forest) sumPositions(place []int) (sum, ends []int) {
	sum, ends = make([]int, len(f.below)), make([]int, len(f.below))
	for i, e := range f.Edges {
		if f.isExtra(int32(i)) {
			sum[e.Owner] += place[e.Dependent]
			sum[e.Dependent] += place[e.Owner]
			ends[e.Owner]++
			ends[e.Dependent]++
		}
	}
	for _, i := range slices.Backward(f.topological) {
		if e := f.parentEdge[i]; e != noBox {
			owner := f.Edges[e].Owner
			sum[owner] += sum[i]
			ends[owner] += ends[i]
		}
	}
	return sum, ends
}

func mean(node int32, place, sum, ends []int) int {
	if ends[node] == 0 {
		return place[node]
	}
	return sum[node]
}

func weight(node int32, ends []int) int { return max(ends[node], 1) }
