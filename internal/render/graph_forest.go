package render

import "github.com/kubectl-gc/kubectl-gc/internal/report"

// forest places each vertex of a graph once: below its controller, or else its first owner. In a
// cycle of owners, the first one becomes the root.
type forest struct {
	// above is the parent of each vertex; -1 for none.
	above []int
	depth []int
	// order lists all vertices, each after its parent.
	order []int
	roots []int
}

func newForest(v *view) *forest {
	f := &forest{above: make([]int, len(v.nodes)), depth: make([]int, len(v.nodes)), order: make([]int, 0, len(v.nodes))}
	for i, owners := range v.owners {
		f.above[i] = homeOf(owners)
	}
	placed := make([]bool, len(v.nodes))
	for i := range v.nodes {
		if f.above[i] < 0 {
			f.place(v, i, placed)
		}
	}
	for i := range v.nodes {
		if !placed[i] {
			top := f.ringAbove(i)
			f.above[top] = -1
			f.place(v, top, placed)
		}
	}
	return f
}

// place adds a root and everything below it.
func (f *forest) place(v *view, root int, placed []bool) {
	f.roots = append(f.roots, root)
	placed[root] = true
	next := len(f.order)
	for f.order = append(f.order, root); next < len(f.order); next++ {
		i := f.order[next]
		for _, l := range v.dependents[i] {
			if f.above[l.to] == i && !placed[l.to] {
				placed[l.to] = true
				f.depth[l.to] = f.depth[i] + 1
				f.order = append(f.order, l.to)
			}
		}
	}
}

// homeOf returns the controller, else the first existing owner, else the first owner; -1 without
// owners.
func homeOf(owners []link) int {
	for _, l := range owners {
		if l.edge.Controller {
			return l.to
		}
	}
	for _, l := range owners {
		if l.edge.Class == report.Existing {
			return l.to
		}
	}
	if len(owners) > 0 {
		return owners[0].to
	}
	return -1
}

// ringAbove follows the parents from i to a cycle, and returns the first vertex of the cycle.
func (f *forest) ringAbove(i int) int {
	seen := map[int]bool{}
	for !seen[i] {
		seen[i] = true
		i = f.above[i]
	}
	first := i
	for j := f.above[i]; j != i; j = f.above[j] {
		first = min(first, j)
	}
	return first
}
