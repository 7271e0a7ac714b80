package risk

import (
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// dominance is the tree of dominators of the owner graph of the settled objects: above
// an object stands who has to go for it to go. Objects that own one another in a circle
// count as one. At the top stands nobody: who has no owners goes only when he is
// deleted. Leaves, which own nobody, are counted where they hang and are not in it.
type dominance struct {
	// circle is the number of the circle that an object is in, from 1, owners first; 0
	// for an object that is not settled, and for a leaf.
	circle []int32
	// above and depth are those of circles in the tree; tolls those of all below it.
	above, depth []int32
	tolls        []report.Toll
	// contains reports whether a circle or one below it has a container.
	contains []bool
}

// follows reports whether a container may go with the object.
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

// over is the circle that stands above all owners of the members of circle n; 0 for nobody.
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

// meet is the lowest circle above both, or one of them; a negative one is none yet.
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

// circles are the sets of settled objects that own one another, by number, and the number
// of each object's. Nobody is in the first.
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

// inner are the settled objects that are no leaves; neither are their owners.
func (c *ceilings) inner(yield func(int32) bool) {
	for i := range c.snap.Objects {
		if c.settled[i] && !c.leaf(i) && !yield(int32(i)) {
			return
		}
	}
}
