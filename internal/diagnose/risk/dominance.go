package risk

import (
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// dominance is the dominator tree of the owner graph of the settled objects: the parent of an object
// is the nearest one that must be deleted before it can be. Objects that own one another in a cycle
// count as one. Node 0 is a virtual root: an object without owners is deleted only by a request.
// Leaves, which own nothing, are counted in their parent and are not in the tree.
type dominance struct {
	// circle is the number of an object's cycle, from 1, owners first; 0 for an object that is not
	// settled, and for a leaf.
	circle []int32
	// above and depth are the parent and the depth of each cycle. tolls has the totals of the
	// subtrees.
	above, depth []int32
	tolls        []report.Toll
	// contains reports whether a cycle or its subtree has a container.
	contains []bool
}

// follows reports whether a container may be deleted with the object.
func (d *dominance) follows(i int) bool { return d.contains[d.circle[i]] }

func (d *dominance) toll(i int) report.Toll { return d.tolls[d.circle[i]] }

func dominate(c *ceilings) *dominance {
	circle, members := circles(c)
	n := len(members)
	d := &dominance{circle: circle, above: make([]int32, n), depth: make([]int32, n), tolls: make([]report.Toll, n), contains: make([]bool, n)}
	for n := int32(1); int(n) < len(members); n++ {
		d.above[n] = d.over(c, n, members[n])
		d.depth[n] = d.depth[d.above[n]] + 1
	}
	leaf := make([]int32, 1)
	for i := range c.snap.Objects {
		if c.settled[i] && c.leaf(i) {
			leaf[0] = int32(i)
			t := &d.tolls[d.over(c, -1, leaf)]
			add(t, c.own(i))
			c.addTouched(t, i)
		}
	}
	for n := len(members) - 1; n > 0; n-- {
		for _, i := range members[n] {
			add(&d.tolls[n], c.own(int(i)))
			c.addTouched(&d.tolls[n], int(i))
			d.contains[n] = d.contains[n] || c.contains[i]
		}
		add(&d.tolls[d.above[n]], d.tolls[n])
		d.contains[d.above[n]] = d.contains[d.above[n]] || d.contains[n]
	}
	return d
}

// over returns the nearest common dominator of all owners of the members of cycle n; 0 for the root.
func (d *dominance) over(c *ceilings, n int32, members []int32) int32 {
	above := int32(-1)
	for _, i := range members {
		for _, owner := range c.owners[i] {
			if o := d.circle[owner]; o != n {
				above = d.meet(above, o)
			}
		}
	}
	return max(above, 0)
}

// meet returns the lowest common ancestor of two cycles. A negative a is none yet.
func (d *dominance) meet(a, b int32) int32 {
	if a < 0 {
		return b
	}
	for a != b {
		if d.depth[a] < d.depth[b] {
			a, b = b, a
		}
		a = d.above[a]
	}
	return a
}

// circles returns the number of each object's cycle, and the members of each cycle. Cycle 0 has none.
func circles(c *ceilings) (circle []int32, members [][]int32) {
	circle, members = make([]int32, len(c.snap.Objects)), make([][]int32, 1)
	graph.Components(len(c.snap.Objects), c.inner, func(i int32) []int32 { return c.owners[i] }, func(found []int32) {
		for _, i := range found {
			circle[i] = int32(len(members))
		}
		members = append(members, found)
	})
	return circle, members
}

// inner yields the settled objects that are no leaves. Their owners are no leaves either.
func (c *ceilings) inner(yield func(int32) bool) {
	for i := range c.snap.Objects {
		if c.settled[i] && !c.leaf(i) && !yield(int32(i)) {
			return
		}
	}
}
