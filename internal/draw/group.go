package draw

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
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
func (f *figures) group(r boxLimits) (counted, objects int) {
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
	sortLines(lines)
	f.list, f.lines = list, lines
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
func (c *boxSelection) boxesOf() []int {
	box := make([]int, len(c.of))
	for _, i := range c.order {
		if c.reached(i) {
			box[i] = c.of[i]
		} else {
			box[i] = box[c.parent[i]]
		}
	}
	return box
}

// first returns the first figure of a pile without a box of its own, which gives its position to
// the pile; -1 if there is none.
func (c *boxSelection) first(x *pile) int {
	for _, i := range x.members {
		if !c.kept[i] {
			return i
		}
	}
	return -1
}

func (g *group) count(c *boxSelection, i int) {
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
func (c *boxSelection) figureOf(x *pile, g *group) figure {
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
		if one.why != m.why {
			one.why = ""
		}
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

// lines returns the lines between boxes, by the numbers of their figures. Each pair has one line
// for all its references.
func (c *boxSelection) lines(box []int) []line {
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

// groupedWords describes how much of a picture is counted, and where the rest is.
func groupedWords(counted, objects int) string {
	return fmt.Sprintf("%d of %d objects are counted in groups; what is remarkable has its own box first. -o html opens groups, -o json lists every object.", counted, objects)
}

// leftWords describes what a page does not contain.
func leftWords(counted, objects int) string {
	return fmt.Sprintf("%d of %d objects are only counted in this page. The page of one object has all that is below it, -o json lists every object.", counted, objects)
}

// noteWith returns the text below the name of a group: a note, descendants and problems.
func (g *group) noteWith(note string) string {
	var words []string
	if note != "" {
		words = append(words, note)
	}
	if len(g.below) > 0 {
		words = append(words, "below: "+g.kinds())
	}
	for _, a := range appearances {
		if n := g.looks[a.Look]; n > 0 && !isUnremarkable(a.Look) {
			words = append(words, strconv.Itoa(n)+" "+a.Word)
		}
	}
	if g.dangling > 0 {
		words = append(words, strconv.Itoa(g.dangling)+" with a dangling reference")
	}
	return strings.Join(words, ", ")
}

// maxBelowKinds is the number of kinds below a group that are named.
const maxBelowKinds = 2

// kinds returns the kinds below a group, the most frequent first.
func (g *group) kinds() string {
	kinds := slices.SortedFunc(maps.Keys(g.below), func(a, b string) int { return cmp.Or(g.below[b]-g.below[a], cmp.Compare(a, b)) })
	words, more := []string{}, 0
	for i, kind := range kinds {
		if i < maxBelowKinds || len(kinds) == maxBelowKinds+1 {
			words = append(words, times(kind, g.below[kind]))
		} else {
			more += g.below[kind]
		}
	}
	if more > 0 {
		words = append(words, strconv.Itoa(more)+" more")
	}
	return strings.Join(words, ", ")
}

// times returns "Pod ×48", or "Pod" for one.
func times(kind string, n int) string {
	if n == 1 {
		return kind
	}
	return kind + " ×" + strconv.Itoa(n)
}

// MaxUngrouped is the largest number of boxes that a picture shows without groups. maxUngroupedPage
// is the same for the objects of a page, and maxPageBoxes the largest number of objects in a page.
const (
	MaxUngrouped     = 500
	maxUngroupedPage = 1_000
	maxPageBoxes     = 105_000
)

// boxLimits limits the number of boxes: most in all, and for each pile few figures, or many if they
// have problems.
type boxLimits struct{ most, few, many int }

var (
	pictureRoom = boxLimits{most: 240, few: 3, many: 12}
	// pageRoom is for a page that does not contain everything.
	pageRoom = boxLimits{most: 60_000, few: 1_000, many: 5_000}
)

// boxSelection selects the figures with a box of their own. The rest of a pile shares one box, if
// its owner has one.
type boxSelection struct {
	*piles

	kept  []bool
	boxes int
	// level is the number of figures of the same pile, or of that of an ancestor, that come before
	// a figure.
	level []int
}

// choose selects as many figures as fit: first those with problems, then the first few of each
// pile. Ancestors come before their descendants.
func (p *piles) choose(r boxLimits) *boxSelection {
	c := &boxSelection{piles: p, kept: make([]bool, len(p.of)), level: make([]int, len(p.of))}
	c.rank()
	c.boxes += object.Count(p.list, func(p pile) bool { return p.parent < 0 && len(p.members) > 0 })
	urgent, few := make([]int, 0, len(p.of)), make([]int, 0, len(p.of))
	for _, i := range p.order {
		if p.inside[i] != notUrgent && c.level[i] < r.many {
			urgent = append(urgent, i)
		}
		if c.level[i] < r.few {
			few = append(few, i)
		}
	}
	const share = 3
	c.keepWhileFits(urgent, r.most-r.most/share, func(a, b int) int { return cmp.Compare(p.inside[b], p.inside[a]) })
	c.keepWhileFits(few, r.most, func(int, int) int { return 0 })
	for _, i := range p.order {
		// A box that counts one object may as well show it.
		if x := &p.list[p.of[i]]; len(x.members)-x.kept == 1 && c.cost(i) == 0 && c.reached(i) {
			c.keep(i)
		}
	}
	return c
}

// rank computes the levels.
func (c *boxSelection) rank() {
	order, before := slices.Clone(c.order), make([]int, len(c.piles.list))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(c.depth[a]-c.depth[b], cmp.Compare(c.inside[b], c.inside[a]), a-b)
	})
	for _, i := range order {
		c.level[i] = before[c.of[i]]
		before[c.of[i]]++
		if up := c.parent[i]; up >= 0 {
			c.level[i] = max(c.level[i], c.level[up])
		}
	}
}

// keepWhileFits keeps candidates in order as long as they fit.
func (c *boxSelection) keepWhileFits(candidates []int, most int, first func(a, b int) int) {
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
func (c *boxSelection) reached(i int) bool { return c.parent[i] < 0 || c.kept[c.parent[i]] }

// cost returns the number of additional boxes for a figure: its own and those of the piles below
// it, minus that of its pile if it is the last of it.
func (c *boxSelection) cost(i int) int {
	n := 1 + c.under[i]
	if x := &c.piles.list[c.of[i]]; x.kept+1 == len(x.members) {
		n--
	}
	return n
}

func (c *boxSelection) keep(i int) {
	c.boxes += c.cost(i)
	c.kept[i] = true
	c.piles.list[c.of[i]].kept++
}
