package diagnose

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// ceilings has an upper bound of what the delete of each object takes. Objects are identified by
// their positions in the snapshot.
//
// A settled object is deleted only after all of its owners, or with its container. So a delete
// takes no more than the object dominates in the graph of owners, which one walk finds for all
// objects (dominance). For an object that takes a container, such as a namespace, along, the delete
// is followed instead (follow). For an object that is not settled, the bound is its whole group.
type ceilings struct {
	reach *reach.Map
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

func newCeilings(m *reach.Map, snap *snapshot.Snapshot, weights *scale) *ceilings {
	objects := snap.Objects
	n := len(objects)
	c := &ceilings{
		reach: m, paths: pathsOf(m, snap), snap: snap, classes: make([]class, n), contains: make([]bool, n), group: make([]int32, n),
		tolls: map[int]report.Toll{}, touched: map[int][]int{}, seenIn: map[int]int32{},
		taken: make([]int32, n), asked: make([]int32, n), left: make([]int32, n),
	}
	for i, o := range objects {
		c.classes[i] = weights.class(o.Ref)
		c.group[i] = int32(i)
		c.contains[i] = c.leads[i] || contains(o)
	}
	c.gather()
	c.dominators = dominate(c)
	return c
}

// own returns the toll of an object alone.
func (c *ceilings) own(i int) report.Toll { return weigh(c.classes[i]) }

// gather joins each object that is not settled with its unsettled sources (reach.Map.Sources), and with those
// that obstruct its deletion. For each settled source it notes the groups that it may affect.
func (c *ceilings) gather() {
	type touch struct{ by, touched int }
	var touches []touch
	join := func(j, i int) {
		if c.settled[j] {
			touches = append(touches, touch{j, i})
		} else {
			c.group[c.find(i)] = int32(c.find(j))
		}
	}
	for i, o := range c.snap.Objects {
		for _, x := range c.reach.FreedBy(o) {
			join(i, c.snap.Place(x))
		}
		if c.settled[i] {
			continue
		}
		for _, x := range c.reach.Sources(o) {
			join(c.snap.Place(x), i)
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

// of returns an upper bound of what a delete of the object takes.
func (c *ceilings) of(i int) report.Toll {
	switch {
	case !c.settled[i]:
		return c.tolls[c.find(i)]
	case c.leaf(i):
		t := c.own(i)
		c.addTouched(&t, i)
		return t
	case c.dominators.contains[c.dominators.circle[i]]: // a container may be deleted with the object
		return c.follow(i)
	default:
		return c.dominators.tolls[c.dominators.circle[i]]
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

// loses counts one owner of an object as deleted in this walk, and reports whether it was the last.
func (c *ceilings) loses(d int32) bool {
	if c.asked[d] != c.turn {
		c.asked[d], c.left[d] = c.turn, int32(len(c.owners[d]))
	}
	c.left[d]--
	return c.left[d] == 0
}

// stir is addTouched for a walk: it adds each group only once per walk.
func (c *ceilings) stir(i int, sum *report.Toll) {
	for _, g := range c.touched[i] {
		if c.seenIn[g] != c.turn {
			c.seenIn[g] = c.turn
			add(sum, c.tolls[g])
		}
	}
}

// dominance is the dominator tree of the owner graph of the settled objects: the parent of an
// object is the nearest one that must be deleted before it can be. Objects that own one another in
// a cycle count as one. Node 0 is a virtual root: an object without owners is deleted only by a
// request. Leaves, which own nothing, are counted in their parent and are not in the tree.
//
//	owners a → b, a → c, b → d, c → d    tree: a above b, c and d, as d goes only after both
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

// dominate builds the tree with owners first, so that each parent is complete before its children,
// and then adds up the totals with dependents first.
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

// over returns the nearest common dominator of all owners of the members of cycle n; 0 for the
// root.
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

// circles returns the number of each object's cycle, and the members of each cycle. Cycle 0 is the
// root and has none.
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

// paths caches those of a reach.Map between settled objects, by position in the snapshot. The
// ceilings walk along them many times.
type paths struct {
	settled []bool
	// owners and below are the results of reach.Map.Owners and DeletedWith for a settled object.
	owners, below [][]int32
	// leads marks the objects that take another one along although its owners or other leaders stay.
	leads []bool
}

func pathsOf(m *reach.Map, snap *snapshot.Snapshot) *paths {
	n := len(snap.Objects)
	p := &paths{settled: make([]bool, n), owners: make([][]int32, n), below: make([][]int32, n), leads: make([]bool, n)}
	positions := func(objects []*object.Object) []int32 {
		if len(objects) == 0 {
			return nil
		}
		return object.Mapped(objects, func(o *object.Object) int32 { return int32(snap.Place(o)) })
	}
	for i, o := range snap.Objects {
		if p.settled[i] = m.IsStable(o); p.settled[i] {
			p.owners[i], p.below[i] = positions(m.Owners(o)), positions(m.DeletedWith(o))
		}
		if leaders := m.ImplicitOwners(o); len(o.Owners) > 0 || len(leaders) > 1 {
			for _, leader := range leaders {
				p.leads[snap.Place(leader)] = true
			}
		}
	}
	return p
}

// leaf reports whether an object takes nothing along and is no namespace, definition or node.
func (c *ceilings) leaf(i int) bool {
	return len(c.below[i]) == 0 && !contains(c.snap.Objects[i])
}

// contains reports whether an object takes along more than its dependents.
func contains(o *object.Object) bool { return o.IsContainer() || o.Is(object.Node) }
