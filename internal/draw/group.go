package draw

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// group is the content of a box in addition to its objects.
type group struct {
	// below counts the hidden descendants by kind.
	below map[string]int
	// looks counts the content by look, and dangling the objects with a missing owner. If all
	// objects of the group are alike, only descendants count.
	looks    map[Look]int
	dangling int
}

// group reduces the figures to the room: some keep their own box, the others are counted in the box
// of their pile. It returns the numbers of counted and of all objects.
func (f *figures) group(r room) (counted, objects int) {
	c := newPiles(f, r.most).choose(r)
	box := c.boxesOf()
	groups := make([]*group, len(c.piles.list))
	for n := range groups {
		groups[n] = &group{below: map[string]int{}, looks: map[Look]int{}}
	}
	for _, i := range c.order {
		objects += len(f.list[i].refs)
		if !c.kept[i] {
			counted += len(f.list[i].refs)
			groups[box[i]].count(c, i)
		}
	}
	lines := c.lines(box)
	number := make([]int, len(f.list))
	list := f.list[:0:0]
	for i := range f.list {
		number[i] = len(list)
		switch x := &c.piles.list[c.of[i]]; {
		case c.kept[i]:
			list = append(list, f.list[i])
		case c.reached(i) && i == c.first(x):
			list = append(list, c.figureOf(x, groups[c.of[i]]))
		}
	}
	for k := range lines {
		lines[k].owner, lines[k].dependent = number[lines[k].owner], number[lines[k].dependent]
	}
	f.list, f.lines = list, sortLines(lines, len(list))
	f.nodes = nil
	return counted, objects
}

// closed returns for each figure the pile that hides it in a page until it is opened, or -1, and
// the piles with several namespaces.
func (f *figures) closed() (piles, elsewhere []int) {
	c := newPiles(f, pictureRoom.most).choose(pictureRoom)
	piles = slices.Clone(c.of)
	for i, kept := range c.kept {
		if kept {
			piles[i] = -1
		}
	}
	for n := range c.piles.list {
		if c.piles.list[n].elsewhere {
			elsewhere = append(elsewhere, n)
		}
	}
	return piles, elsewhere
}

// boxesOf returns for each figure the pile with its box.
func (c *choice) boxesOf() []int {
	box := make([]int, len(c.of))
	for _, i := range c.order {
		if c.reached(i) {
			box[i] = c.of[i]
		} else {
			box[i] = box[c.above[i]]
		}
	}
	return box
}

// first returns the first figure of a pile without a box of its own, which gives its position to
// the pile; -1 if there is none.
func (c *choice) first(x *pile) int {
	for _, i := range x.members {
		if !c.kept[i] {
			return i
		}
	}
	return -1
}

func (g *group) count(c *choice, i int) {
	x := &c.figures.list[i]
	direct := c.reached(i)
	if !direct {
		g.below[x.refs[0].Kind] += len(x.refs)
	}
	if !direct || c.piles.list[c.of[i]].kind == "" {
		g.looks[x.look] += len(x.refs)
		if c.dangling[i] {
			g.dangling += len(x.refs)
		}
	}
}

// figureOf returns the box of a pile.
func (c *choice) figureOf(x *pile, g *group) figure {
	one := figure{look: x.look, group: g, elsewhere: x.elsewhere}
	kinds := map[string]bool{}
	same := true
	for _, i := range x.members {
		if c.kept[i] {
			continue
		}
		m := &c.figures.list[i]
		if one.refs == nil {
			one.note, one.why = m.note, m.why
		}
		same = same && m.note == one.note
		one.why = common(one.why, m.why)
		one.refs = append(one.refs, m.refs...)
		one.target = one.target || m.target
		kinds[m.refs[0].Kind] = true
	}
	if !same {
		one.note = ""
	}
	if x.kind == "" {
		one.kinds = len(kinds)
	}
	return one
}

func common(a, b string) string {
	if a == b {
		return a
	}
	return ""
}

// lines returns the lines between boxes, by the numbers of their figures. Each pair has one line
// for all its references.
func (c *choice) lines(box []int) []line {
	firsts := make([]int, len(c.piles.list))
	for n := range firsts {
		firsts[n] = c.first(&c.piles.list[n])
	}
	at := func(i int) int {
		if c.kept[i] {
			return i
		}
		return firsts[box[i]]
	}
	var lines []line
	number := map[[2]int]int{}
	for _, l := range c.figures.lines {
		if !c.reached(l.dependent) {
			continue
		}
		pair := [2]int{at(l.owner), at(l.dependent)}
		if n, ok := number[pair]; ok {
			lines[n].join(l)
		} else if pair[0] != pair[1] || l.owner == l.dependent {
			number[pair] = len(lines)
			l.owner, l.dependent = pair[0], pair[1]
			lines = append(lines, l)
		}
	}
	return lines
}

// join adds a reference to a line.
func (l *line) join(m line) {
	l.controller = l.controller && m.controller
	l.blocks = l.blocks && m.blocks
	l.removed = l.removed && m.removed
	// The worst class wins.
	worst := []report.Class{report.Dangling, report.Waiting, report.UnknownClass}
	if i := slices.IndexFunc(worst, func(c report.Class) bool { return l.class == c || m.class == c }); i >= 0 {
		l.class = worst[i]
	}
}
