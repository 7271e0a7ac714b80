package draw

import (
	"slices"

	owners "github.com/kubectl-gc/kubectl-gc/internal/graph"
)

// graph indexes the input: edges that close a cycle, groups that must share columns, and the
// minimum column of each box.
type layoutGraph struct {
	layoutInput
	// owned lists the edges of each owner, in order.
	owned [][]int32
	// closes marks edges that close a cycle.
	closes []bool
	// topological lists owners before dependents, ignoring edges that close a cycle.
	topological []int32
	// unit is the unit of each group, units the groups of each unit in ascending order. Groups that
	// own each other's boxes in both directions are one unit.
	unit  []int32
	units [][]int32
	// column is the minimum number of units to the left of each unit.
	column []int32
	// rank is the minimum number of boxes of its unit to the left of each box.
	rank []int32
}

func newLayoutGraph(in layoutInput) *layoutGraph {
	g := &layoutGraph{layoutInput: in, owned: make([][]int32, len(in.Boxes)), closes: make([]bool, len(in.Edges))}
	for i, e := range g.Edges {
		g.owned[e.Owner] = append(g.owned[e.Owner], int32(i))
	}
	g.sort()
	g.unite()
	g.order()
	g.rank = make([]int32, len(in.Boxes))
	for _, i := range g.topological {
		for _, e := range g.owned[i] {
			d := int32(in.Edges[e].Dependent)
			if !g.closes[e] && g.unitOf(d) == g.unitOf(i) {
				g.rank[d] = max(g.rank[d], g.rank[i]+1)
			}
		}
	}
	return g
}

func (g *layoutGraph) unitOf(box int32) int32 { return g.unit[g.Boxes[box].Group] }

// within reports whether both ends of an edge are in one group.
func (g *layoutGraph) within(e int32) bool {
	return g.Boxes[g.Edges[e].Owner].Group == g.Boxes[g.Edges[e].Dependent].Group
}

// sort computes topological and closes by a depth-first search.
func (g *layoutGraph) sort() {
	const open, done = 1, 2
	state := make([]uint8, len(g.Boxes))
	after := make([]int32, 0, len(g.Boxes))
	var visit func(int32)
	visit = func(i int32) {
		state[i] = open
		for _, e := range g.owned[i] {
			switch d := int32(g.Edges[e].Dependent); state[d] {
			case open:
				g.closes[e] = true
			case done:
			default:
				visit(d)
			}
		}
		state[i] = done
		after = append(after, i)
	}
	for i := range g.Boxes {
		if state[i] == 0 {
			visit(int32(i))
		}
	}
	slices.Reverse(after)
	g.topological = after
}

// unite computes the units: the strongly connected components of groups. Units are numbered with
// dependents first, as Components yields them.
func (g *layoutGraph) unite() {
	next := g.groupEdges()
	g.unit = make([]int32, g.Groups)
	all := make([]int32, g.Groups)
	for i := range all {
		all[i] = int32(i)
	}
	dependents := func(group int32) []int32 { return next[group] }
	owners.Components(g.Groups, slices.Values(all), dependents, func(unit []int32) {
		slices.Sort(unit)
		for _, group := range unit {
			g.unit[group] = int32(len(g.units))
		}
		g.units = append(g.units, unit)
	})
}

// groupEdges returns, for each group, the other groups with dependents of its boxes.
func (g *layoutGraph) groupEdges() [][]int32 {
	next := make([][]int32, g.Groups)
	for i, e := range g.Edges {
		if !g.within(int32(i)) {
			from := g.Boxes[e.Owner].Group
			next[from] = append(next[from], int32(g.Boxes[e.Dependent].Group))
		}
	}
	for i := range next {
		slices.Sort(next[i])
		next[i] = slices.Compact(next[i])
	}
	return next
}

// order assigns columns to units: owners to the left of dependents, and unconnected units on the
// right.
func (g *layoutGraph) order() {
	g.column = make([]int32, len(g.units))
	linked := make([]bool, len(g.units))
	next := g.groupEdges()
	last := int32(0)
	for u := len(g.units) - 1; u >= 0; u-- {
		for _, group := range g.units[u] {
			for _, d := range next[group] {
				if v := g.unit[d]; v != int32(u) {
					g.column[v] = max(g.column[v], g.column[u]+1)
					linked[u], linked[v] = true, true
					last = max(last, g.column[v])
				}
			}
		}
	}
	for u := range g.units {
		if !linked[u] {
			g.column[u] = last
		}
	}
}
