package draw

import (
	"cmp"
	"slices"
)

// MostWhole is the number of boxes up to which a picture shows each of them. pageWhole is
// the number of objects up to which a page does, and mostInPage the number up to which it
// has all of them.
const (
	MostWhole  = 500
	pageWhole  = 1_000
	mostInPage = 105_000
)

// room is how many boxes there may be, and how many of a pile may stand beside it: few of
// those that are as usual, many where something is remarkable.
type room struct{ most, few, many int }

var (
	pictureRoom = room{most: 240, few: 3, many: 12}
	// pageRoom is that of a page which does not have everything.
	pageRoom = room{most: 60_000, few: 1_000, many: 5_000}
)

// choice is which figures of piles have a box of their own. A pile of which not all have
// one has a box as well, once its owner has.
type choice struct {
	*piles

	kept  []bool
	boxes int
	// level is how many of its pile, or of one above it, come before a figure.
	level []int
}

// choose keeps as many figures as there is room for: first those that are remarkable, and
// then of each pile the first few. Whoever stands above another one comes before it.
func (p *piles) choose(r room) *choice {
	c := &choice{piles: p, kept: make([]bool, len(p.of)), level: make([]int, len(p.of))}
	c.rank()
	for n := range p.list {
		if p.list[n].above < 0 && len(p.list[n].members) > 0 {
			c.boxes++
		}
	}
	urgent, few := make([]int, 0, len(p.of)), make([]int, 0, len(p.of))
	for _, i := range p.order {
		if p.inside[i] != calm && c.level[i] < r.many {
			urgent = append(urgent, i)
		}
		if c.level[i] < r.few {
			few = append(few, i)
		}
	}
	const share = 3
	c.fill(urgent, r.most-r.most/share, func(a, b int) int { return cmp.Compare(p.inside[b], p.inside[a]) })
	c.fill(few, r.most, func(int, int) int { return 0 })
	for _, i := range p.order {
		// A box that counts one object may as well show it.
		if x := &p.list[p.of[i]]; len(x.members)-x.kept == 1 && c.cost(i) == 0 && c.reached(i) {
			c.keep(i)
		}
	}
	return c
}

// rank finds the levels.
func (c *choice) rank() {
	order, before := slices.Clone(c.order), make([]int, len(c.piles.list))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(c.depth[a]-c.depth[b], cmp.Compare(c.inside[b], c.inside[a]), a-b)
	})
	for _, i := range order {
		c.level[i] = before[c.of[i]]
		before[c.of[i]]++
		if up := c.above[i]; up >= 0 {
			c.level[i] = max(c.level[i], c.level[up])
		}
	}
}

// fill keeps the first ones that have room.
func (c *choice) fill(candidates []int, most int, first func(a, b int) int) {
	slices.SortStableFunc(candidates, func(a, b int) int {
		return cmp.Or(first(a, b), c.level[a]-c.level[b], c.depth[a]-c.depth[b], a-b)
	})
	for _, i := range candidates {
		if !c.kept[i] && c.reached(i) && c.boxes+c.cost(i) <= most {
			c.keep(i)
		}
	}
}

// reached reports whether the pile of a figure has a box.
func (c *choice) reached(i int) bool { return c.above[i] < 0 || c.kept[c.above[i]] }

// cost is how many more boxes there are when a figure has one: its own, and those of the
// piles below it, without that of its pile when it is the last of it.
func (c *choice) cost(i int) int {
	n := 1 + c.under[i]
	if x := &c.piles.list[c.of[i]]; x.kept+1 == len(x.members) {
		n--
	}
	return n
}

func (c *choice) keep(i int) {
	c.boxes += c.cost(i)
	c.kept[i] = true
	c.piles.list[c.of[i]].kept++
}
