package render

import (
	"cmp"
	"math"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	// mostRows is how many lines a tree has before siblings of a kind are counted, and
	// mostTroubled how many of them may go to what is remarkable before anything else.
	mostRows     = 48
	mostTroubled = 32
	// lateBelow is how many objects without an owner come before one more of a kind below
	// an owner.
	lateBelow = 8
)

// fold chooses what of a tree is shown, so that it has no more than mostRows lines: of each
// kind below an owner the first few, beginning with what is remarkable. What is not shown
// is counted where it would stand.
type fold struct {
	t *tree
	// hidden are those of which only a number is said in the end, kept those that have a
	// line; whole says that these are all others.
	hidden, kept []bool
	whole        bool
	generated    int
	alone        []report.Ref
	// inside is what is below a vertex, and the vertex itself.
	inside []urgency
	// level is how many siblings of a kind stand before it, or before one above it.
	level  []int
	groups map[siblings]*kin
	// unshown are how many groups below a vertex have no line yet.
	unshown map[int]int
	lines   int
}

// urgency is why something is shown before others.
type urgency uint8

const (
	calm urgency = iota
	troubled
	wanted
)

// siblings are the objects of a kind below an owner, or of those without one.
type siblings struct {
	above int
	kind  kindName
}

// kin is how many siblings there are, and how many of them are shown.
type kin struct{ all, kept int }

// newFold chooses. A wide tree is whole, and so is one of few lines.
func newFold(t *tree) *fold {
	f := &fold{t: t, hidden: make([]bool, len(t.nodes)), kept: make([]bool, len(t.nodes)), inside: make([]urgency, len(t.nodes))}
	for i := range t.nodes {
		switch {
		case t.asked[t.nodes[i].Ref.UID]:
			f.inside[i] = wanted
		case t.trouble[i] != noTrouble:
			f.inside[i] = troubled
		}
	}
	for _, i := range slices.Backward(t.order) {
		if up := t.above[i]; up >= 0 {
			f.inside[up] = max(f.inside[up], f.inside[i])
		}
	}
	f.hide()
	if f.whole = t.w.style.Wide || f.rows() <= mostRows; f.whole {
		for i := range f.kept {
			f.kept[i] = !f.hidden[i]
		}
		return f
	}
	f.rank()
	f.choose()
	return f
}

// hide sets apart what is seldom looked for in a tree of everything: what has no owners and no
// dependents, and what Kubernetes makes for others.
func (f *fold) hide() {
	if len(f.t.asked) > 0 || f.t.w.style.Wide {
		return
	}
	needed := make([]bool, len(f.t.nodes))
	for _, i := range slices.Backward(f.t.order) {
		ref := object.Ref(f.t.nodes[i].Ref)
		switch {
		case needed[i] || f.inside[i] != calm:
		case ref.IsEvent():
			f.hidden[i] = true
		case ref.Generated():
			f.hidden[i] = true
			f.generated++
		case len(f.t.owners[i]) == 0 && len(f.t.dependents[i]) == 0:
			f.hidden[i] = true
			f.alone = append(f.alone, f.t.nodes[i].Ref)
		}
		if up := f.t.above[i]; up >= 0 && !f.hidden[i] {
			needed[up] = true
		}
	}
	slices.Reverse(f.alone)
}

// rows is how many lines the whole tree has.
func (f *fold) rows() int {
	n := 0
	for i := range f.t.nodes {
		if !f.hidden[i] {
			n += 1 + f.continued(i) + len(f.repeated(i))
		}
	}
	return n
}

// repeated are the dependents of a vertex that stand elsewhere.
func (f *fold) repeated(i int) []int {
	var list []int
	for _, l := range f.t.dependents[i] {
		if f.t.above[l.to] != i && !f.hidden[l.to] {
			list = append(list, l.to)
		}
	}
	return list
}

// continued is 1 for a vertex below which the tree is continued at the margin.
func (f *fold) continued(i int) int {
	if d := f.t.depth[i]; d > 0 && d%f.t.deepest == 0 && len(f.t.dependents[i]) > 0 {
		return 1
	}
	return 0
}

// rank finds the groups and the levels. Without an owner they are counted in each namespace.
// One more sibling below an owner comes as late as so many more without one; what Kubernetes
// makes for others comes last.
func (f *fold) rank() {
	f.level = make([]int, len(f.t.nodes))
	f.groups = map[siblings]*kin{}
	f.unshown = map[int]int{}
	type place struct {
		siblings
		namespace string
	}
	before := map[place]int{}
	order := slices.Clone(f.t.order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(f.t.depth[a]-f.t.depth[b], int(f.inside[b])-int(f.inside[a]), a-b) })
	for _, i := range order {
		if f.hidden[i] {
			continue
		}
		key := f.siblings(i)
		g := f.groups[key]
		if g == nil {
			g = &kin{}
			f.groups[key] = g
			f.unshown[key.above]++
		}
		f.level[i] = before[place{key, f.t.nodes[i].Ref.Namespace}]
		before[place{key, f.t.nodes[i].Ref.Namespace}]++
		if key.above >= 0 {
			f.level[i] = max(g.all*lateBelow, f.level[key.above])
		}
		if f.inside[i] == calm && object.Ref(f.t.nodes[i].Ref).Generated() {
			f.level[i] = math.MaxInt
		}
		g.all++
	}
	f.lines = min(f.unshown[-1], 1)
}

func (f *fold) siblings(i int) siblings {
	r := &f.t.nodes[i].Ref
	return siblings{f.t.above[i], kindName{r.APIVersion, r.Kind}}
}

// choose keeps as many as there is room for.
func (f *fold) choose() {
	var urgent, all []int
	for _, i := range f.t.order {
		if f.hidden[i] {
			continue
		}
		all = append(all, i)
		if f.inside[i] != calm {
			urgent = append(urgent, i)
		}
	}
	f.fill(urgent, mostTroubled, func(a, b int) int { return int(f.inside[b]) - int(f.inside[a]) })
	f.fill(all, mostRows, func(int, int) int { return 0 })
	for _, i := range all {
		// A line that counts one object may as well show it.
		if g := f.groups[f.siblings(i)]; !f.kept[i] && g.all-g.kept == 1 && (f.t.above[i] < 0 || f.kept[f.t.above[i]]) && f.cost(i) == 0 {
			f.keep(i)
		}
	}
}

// fill keeps the first ones as long as there is room. Whoever stands above another comes
// before it in every order.
func (f *fold) fill(candidates []int, most int, first func(a, b int) int) {
	slices.SortStableFunc(candidates, func(a, b int) int {
		return cmp.Or(first(a, b), cmp.Compare(f.level[a], f.level[b]), f.t.depth[a]-f.t.depth[b], a-b)
	})
	for _, i := range candidates {
		if f.kept[i] {
			continue
		}
		if f.lines+f.cost(i) > most {
			return
		}
		f.keep(i)
	}
}

// cost is how many more lines there are when a vertex is shown: its own, one that counts
// what is below it, one for those that stand elsewhere; and what changes in the lines that
// count its siblings.
func (f *fold) cost(i int) int {
	n := 1 + f.continued(i) + min(f.unshown[i], 1) + min(len(f.repeated(i)), 1)
	key := f.siblings(i)
	g := f.groups[key]
	if g.kept == 0 && f.unshown[key.above] == 1 {
		n-- // the line that counts what has none
	}
	if g.kept == 0 && g.all > 1 {
		n++
	}
	if g.kept > 0 && g.kept+1 == g.all {
		n--
	}
	return n
}

func (f *fold) keep(i int) {
	f.lines += f.cost(i)
	f.kept[i] = true
	key := f.siblings(i)
	g := f.groups[key]
	if g.kept == 0 {
		f.unshown[key.above]--
	}
	g.kept++
}
