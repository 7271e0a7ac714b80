package draw

import (
	"cmp"
	"slices"
)

// MostWhole is the largest number of boxes that a picture shows without groups. pageWhole is the
// same for the objects of a page, and mostInPage the largest number of objects in a page.
const (
	MostWhole  = 500
	pageWhole  = 1_000
	mostInPage = 105_000
)

// room limits the number of boxes: most in all, and for each pile few figures, or many if they have
// problems.
type room struct{ most, few, many int }

var (
	pictureRoom = room{most: 240, few: 3, many: 12}
	// pageRoom is for a page that does not contain everything.
	pageRoom = room{most: 60_000, few: 1_000, many: 5_000}
)

// choice selects the figures with a box of their own. The rest of a pile shares one box, if its
// owner has one.
type choice struct {
	*piles

	kept  []bool
	boxes int
	// level is the number of figures of the same pile, or of that of an ancestor, that come before
	// a figure.
	level []int
}

// choose selects as many figures as fit: first those with problems, then the first few of each
// pile. Ancestors come before their descendants.
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

// rank computes the levels.
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

// fill keeps candidates in order as long as they fit.
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

// cost returns the number of additional boxes for a figure: its own and those of the piles below
// it, minus that of its pile if it is the last of it.
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
