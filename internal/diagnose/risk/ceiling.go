package risk

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// ceilings has an upper bound of what the delete of each object takes. Objects are identified by
// their positions in the snapshot.
//
// A settled object is deleted only after all of its owners, or with its container. So a delete takes
// no more than the object dominates in the graph of owners, which one walk finds for all objects.
// Containers are followed one by one. For an object that is not settled, the bound is everything that
// is connected with it.
type ceilings struct {
	reach *impact.Map
	*paths
	snap *snapshot.Snapshot
	// classes has the class of each object alone. contains marks the objects that take along more
	// than their dependents.
	classes  []class
	contains []bool
	// group is a union-find forest of the objects that are not settled: connected objects have the
	// same root. tolls has the total of each group, by its root. touched has the groups that a
	// settled object may affect.
	group      []int32
	tolls      map[int]report.Toll
	touched    map[int][]int
	dominators *dominance
	// turn numbers the walks, so that the arrays need no clearing. taken marks the objects that a
	// walk has met. left counts the owners that it has not met, valid where asked has the number of
	// the walk.
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

// own returns the toll of an object alone.
func (c *ceilings) own(i int) report.Toll { return weigh(c.classes[i]) }

// gather groups the objects that are not settled.
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

// of returns an upper bound of what a delete of the object takes.
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

// addTouched adds the groups that a settled object may affect.
func (c *ceilings) addTouched(t *report.Toll, i int) {
	for _, g := range c.touched[i] {
		add(t, c.tolls[g])
	}
}

// follow sums up what is deleted with an object, containers included.
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

// stir adds the groups that a settled object may affect, each once per walk.
func (c *ceilings) stir(i int, sum *report.Toll) {
	for _, g := range c.touched[i] {
		if c.seenIn[g] != c.turn {
			c.seenIn[g] = c.turn
			add(sum, c.tolls[g])
		}
	}
}
