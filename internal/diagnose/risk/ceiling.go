package risk

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// ceilings say of each object what its delete takes at most.
//
// A settled object goes only when all of its owners have gone, or what contains it. So
// with an object goes no more than what it dominates among the owners, which one walk
// over the graph finds for all; what goes with containers is followed one by one. Of
// objects that are not settled all goes that they are connected with, or nothing.
type ceilings struct {
	reach   *impact.Map
	objects []*object.Object
	index   map[*object.Object]int
	// own is the toll of an object alone.
	own []report.Toll
	// group is a member that stands for all that are connected with an object which is
	// not settled; tolls are theirs, by that member. touched are the groups that a
	// settled object may stir.
	group   []int
	tolls   map[int]report.Toll
	touched map[int][]int
	owners  *dominance
	// turn numbers the walks, so that what they leave behind is not cleared.
	turn          int
	taken, seenIn []int
	left          map[int]int
}

func newCeilings(m *impact.Map, objects []*object.Object, weights *scale) *ceilings {
	c := &ceilings{
		reach: m, objects: objects, index: make(map[*object.Object]int, len(objects)),
		own: make([]report.Toll, len(objects)), group: make([]int, len(objects)),
		tolls: map[int]report.Toll{}, touched: map[int][]int{},
		taken: make([]int, len(objects)), seenIn: make([]int, len(objects)),
	}
	for i, o := range objects {
		c.index[o] = i
		c.group[i] = i
		c.own[i] = weights.of(o.Ref)
	}
	c.gather()
	c.owners = dominate(c)
	return c
}

// gather groups what is not settled.
func (c *ceilings) gather() {
	for i, o := range c.objects {
		if c.reach.Settled(o) {
			continue
		}
		for _, x := range c.reach.Sources(o) {
			if !c.reach.Settled(x) {
				c.join(i, c.index[x])
			}
		}
	}
	for i, o := range c.objects {
		if c.reach.Settled(o) {
			continue
		}
		g := c.find(i)
		t := c.tolls[g]
		add(&t, c.own[i])
		c.tolls[g] = t
		for _, x := range c.reach.Sources(o) {
			if c.reach.Settled(x) {
				j := c.index[x]
				c.touched[j] = append(c.touched[j], g)
			}
		}
	}
	for j, groups := range c.touched {
		slices.Sort(groups)
		c.touched[j] = slices.Compact(groups)
	}
}

func (c *ceilings) find(i int) int {
	for c.group[i] != i {
		c.group[i] = c.group[c.group[i]]
		i = c.group[i]
	}
	return i
}

func (c *ceilings) join(i, j int) { c.group[c.find(i)] = c.find(j) }

// of is what a delete of the object takes at most.
func (c *ceilings) of(i int) report.Toll {
	switch {
	case !c.reach.Settled(c.objects[i]):
		return c.tolls[c.find(i)]
	case c.owners.follows(i):
		return c.follow(i)
	default:
		return c.owners.toll(i)
	}
}

// contains reports whether more goes with an object than what refers to it.
// and what goes only with it.
func (c *ceilings) contains(o *object.Object) bool {
	return impact.Container(o) || o.Is(object.Node) || c.reach.Leads(o)
}

// follow walks along what goes with an object, containers included.
func (c *ceilings) follow(start int) report.Toll {
	c.turn++
	c.left = map[int]int{}
	var sum report.Toll
	open := []int{start}
	c.taken[start] = c.turn
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		add(&sum, c.own[i])
		c.stir(i, &sum)
		o := c.objects[i]
		for _, x := range c.reach.Below(o) {
			d := c.index[x]
			if c.taken[d] == c.turn || !c.reach.Settled(x) || !c.contains(o) && !c.loses(d) {
				continue
			}
			c.taken[d] = c.turn
			open = append(open, d)
		}
	}
	return sum
}

// loses takes one owner from an object and reports whether that was the last.
func (c *ceilings) loses(d int) bool {
	n, met := c.left[d]
	if !met {
		n = len(c.reach.Owners(c.objects[d]))
	}
	c.left[d] = n - 1
	return n == 1
}

// stir counts the groups that a settled object may stir, each once in a walk.
func (c *ceilings) stir(i int, sum *report.Toll) {
	for _, g := range c.touched[i] {
		if c.seenIn[g] != c.turn {
			c.seenIn[g] = c.turn
			add(sum, c.tolls[g])
		}
	}
}
