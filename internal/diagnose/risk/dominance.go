package risk

import (
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// dominance is the tree of dominators of the owner graph of the settled objects: above
// an object stands who has to go for it to go. Objects that own one another in a circle
// count as one. At the top stands nobody: who has no owners goes only when he is
// deleted.
type dominance struct {
	// circle is the number of the circle that an object is in, from 1, owners first; 0
	// for an object that is not settled.
	circle []int
	// above and depth are those of circles in the tree; tolls those of all below it.
	above, depth []int
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
	d := &dominance{circle: circle, above: make([]int, n), depth: make([]int, n), tolls: make([]report.Toll, n), contains: make([]bool, n)}
	for n := 1; n < len(members); n++ {
		d.place(n, members[n], c.ownersOf)
	}
	for n := len(members) - 1; n > 0; n-- {
		for _, i := range members[n] {
			add(&d.tolls[n], c.own[i])
			for _, g := range c.touched[i] {
				add(&d.tolls[n], c.tolls[g])
			}
			d.contains[n] = d.contains[n] || c.contains(c.objects[i])
		}
		add(&d.tolls[d.above[n]], d.tolls[n])
		d.contains[d.above[n]] = d.contains[d.above[n]] || d.contains[n]
	}
	return d
}

// place puts a circle below whoever stands above all of its owners.
func (d *dominance) place(n int, members []int, owners func(int) []int) {
	above := -1
	for _, i := range members {
		for _, owner := range owners(i) {
			if o := d.circle[owner]; o != n {
				above = d.meet(above, o)
			}
		}
	}
	if above > 0 {
		d.above[n] = above
	}
	d.depth[n] = d.depth[d.above[n]] + 1
}

// meet is the lowest circle above both, or one of them; a negative one is none yet.
func (d *dominance) meet(a, b int) int {
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
func circles(c *ceilings) (circle []int, members [][]int) {
	circle, members = make([]int, len(c.objects)), make([][]int, 1)
	graph.Components(len(c.objects), c.settled, c.ownersOf, func(found []int) {
		for _, i := range found {
			circle[i] = len(members)
		}
		members = append(members, found)
	})
	return circle, members
}

func (c *ceilings) settled(yield func(int) bool) {
	for i, o := range c.objects {
		if c.reach.Settled(o) && !yield(i) {
			return
		}
	}
}

// ownersOf are the owners of a settled object; they are settled, too.
func (c *ceilings) ownersOf(i int) []int {
	var owners []int
	for _, o := range c.reach.Owners(c.objects[i]) {
		owners = append(owners, c.index[o])
	}
	return owners
}
