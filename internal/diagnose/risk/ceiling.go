package risk

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// ceilings say of each object what its delete takes at most. Objects are named by their
// positions in the snapshot.
//
// A settled object goes only when all of its owners have gone, or what contains it. So
// with an object goes no more than what it dominates among the owners, which one walk
// over the graph finds for all; what goes with containers is followed one by one. Of
// objects that are not settled all goes that they are connected with, or nothing.
type ceilings struct {
	reach *impact.Map
	*paths
	snap *snapshot.Snapshot
	// classes are those of the objects alone, contains tells of which more goes than what
	// refers to them and what goes only with it.
	classes  []class
	contains []bool
	// group is a member that stands for all that are connected with an object which is
	// not settled; tolls are theirs, by that member. touched are the groups that a
	// settled object may stir.
	group      []int32
	tolls      map[int]report.Toll
	touched    map[int][]int
	dominators *dominance
	// turn numbers the walks, so that what they leave behind is not cleared: taken are the
	// objects that a walk has met, left how many owners they have that it has not, where it
	// has asked.
	turn         int32
	taken, asked []int32
	left         []int32
	seenIn       map[int]int32
}

func newCeilings(m *impact.Map, snap *snapshot.Snapshot, weights *scale) *ceilings {
	objects := snap.Objects
	n := len(objects)
	c := &ceilings{
		reach: m, paths: pathsOf(m, snap), snap: snap, classes: weights.classes(objects), contains: make([]bool, n), group: make([]int32, n),
		tolls: map[int]report.Toll{}, touched: map[int][]int{}, seenIn: map[int]int32{},
		taken: make([]int32, n), asked: make([]int32, n), left: make([]int32, n),
	}
	for i, o := range objects {
		c.group[i] = int32(i)
		c.contains[i] = c.leads[i] || contains(o)
	}
	c.gather()
	c.dominators = dominate(c)
	return c
}

// own is the toll of an object alone.
func (c *ceilings) own(i int) report.Toll { return weigh(c.classes[i]) }

// gather groups what is not settled.
func (c *ceilings) gather() {
	type touch struct{ by, touched int }
	var touches []touch
	for i, o := range c.snap.Objects {
		if c.settled[i] {
			continue
		}
		for _, x := range c.reach.Sources(o) {
			if j := c.snap.Place(x); c.settled[j] {
				touches = append(touches, touch{j, i})
			} else {
				c.join(i, j)
			}
		}
	}
	for i := range c.snap.Objects {
		if !c.settled[i] {
			g := c.find(i)
			t := c.tolls[g]
			add(&t, c.own(i))
			c.tolls[g] = t
		}
	}
	for _, t := range touches {
		c.touched[t.by] = append(c.touched[t.by], c.find(t.touched))
	}
	for j, groups := range c.touched {
		slices.Sort(groups)
		c.touched[j] = slices.Compact(groups)
	}
}

func (c *ceilings) find(i int) int {
	for int(c.group[i]) != i {
		c.group[i] = c.group[c.group[i]]
		i = int(c.group[i])
	}
	return i
}

func (c *ceilings) join(i, j int) { c.group[c.find(i)] = int32(c.find(j)) }

// of is what a delete of the object takes at most.
func (c *ceilings) of(i int) report.Toll {
	switch {
	case !c.settled[i]:
		return c.tolls[c.find(i)]
	case c.leaf(i):
		t := c.own(i)
		c.addTouched(&t, i)
		return t
	case c.dominators.follows(i):
		return c.follow(i)
	default:
		return c.dominators.toll(i)
	}
}

// addTouched adds the groups that a settled object may stir.
func (c *ceilings) addTouched(t *report.Toll, i int) {
	for _, g := range c.touched[i] {
		add(t, c.tolls[g])
	}
}

// follow walks along what goes with an object, containers included.
func (c *ceilings) follow(start int) report.Toll {
	c.turn++
	var sum report.Toll
	open := []int32{int32(start)}
	c.taken[start] = c.turn
	for len(open) > 0 {
		i := int(open[len(open)-1])
		open = open[:len(open)-1]
		add(&sum, c.own(i))
		c.stir(i, &sum)
		for _, d := range c.below[i] {
			if c.taken[d] == c.turn || !c.settled[d] || !c.contains[i] && !c.loses(d) {
				continue
			}
			c.taken[d] = c.turn
			open = append(open, d)
		}
	}
	return sum
}

// loses takes one owner from an object and reports whether that was the last.
func (c *ceilings) loses(d int32) bool {
	if c.asked[d] != c.turn {
		c.asked[d], c.left[d] = c.turn, int32(len(c.owners[d]))
	}
	c.left[d]--
	return c.left[d] == 0
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
