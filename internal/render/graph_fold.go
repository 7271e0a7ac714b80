package render

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	// mostRows is the number of lines above which siblings of a kind are counted. mostTroubled of
	// them may be used for vertices with problems first.
	mostRows     = 48
	mostTroubled = 32
	// lateBelow is the number of top-level objects that are shown before one more sibling below an
	// owner.
	lateBelow = 8
)

// fold selects the shown vertices of a tree, so that it has at most mostRows lines: the first few
// of each kind below an owner, those with problems first. Omitted vertices are counted in their
// place.
type fold struct {
	t *tree
	// hidden vertices are only counted at the end. kept ones have a line; whole reports that all
	// others are kept.
	hidden, kept []bool
	whole        bool
	generated    int
	alone        []object.Ref
	// inside is the highest urgency of a vertex and everything below it.
	inside []urgency
	// level is the rank of a vertex: lower levels are shown first (see rank).
	level  []int
	groups map[siblings]*kin
	// unshown is the number of groups below a vertex without a line.
	unshown map[int]int
	lines   int
}

// urgency is the reason to show a vertex before others.
type urgency uint8

const (
	calm urgency = iota
	troubled
	wanted
)

// siblings identify the objects of a kind below an owner, or those without an owner.
type siblings struct {
	above int
	kind  kindName
}

// kin counts siblings, and how many of them are shown.
type kin struct{ all, kept int }

// newFold selects the shown vertices. A wide or short tree is shown whole.
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

// hide removes rarely needed vertices from a tree of everything: those without owners and
// dependents, and generated ones.
func (f *fold) hide() {
	if len(f.t.asked) > 0 || f.t.w.style.Wide {
		return
	}
	needed := make([]bool, len(f.t.nodes))
	for _, i := range slices.Backward(f.t.order) {
		ref := f.t.nodes[i].Ref
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

// rows returns the number of lines of the whole tree.
func (f *fold) rows() int {
	n := 0
	for i := range f.t.nodes {
		if !f.hidden[i] {
			n += 1 + f.continued(i) + len(f.repeated(i))
		}
	}
	return n
}

// repeated returns the dependents of a vertex that are shown elsewhere.
func (f *fold) repeated(i int) []int {
	var list []int
	for _, l := range f.t.dependents[i] {
		if f.t.above[l.to] != i && !f.hidden[l.to] {
			list = append(list, l.to)
		}
	}
	return list
}

// continued returns 1 if the tree below a vertex is continued at the margin, else 0.
func (f *fold) continued(i int) int {
	if d := f.t.depth[i]; d > 0 && d%f.t.deepest == 0 && len(f.t.dependents[i]) > 0 {
		return 1
	}
	return 0
}

// rank computes groups and levels. Without an owner, the level is the number of objects of the kind
// and namespace before the vertex. Below an owner, it is lateBelow times the number of siblings
// before it, or the level of the owner if that is higher. Generated objects come last.
//
//	Pods of the first ReplicaSet: 0, 8, 16, …    17th Service without an owner: 16
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
		if f.inside[i] == calm && f.t.nodes[i].Ref.Generated() {
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

// choose keeps as many vertices as fit.
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

// fill keeps candidates in order until there is no more room. In every order, a vertex comes after
// its ancestors.
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

// cost returns the number of additional lines for showing a vertex: its own, one that counts what
// is below it, one for dependents shown elsewhere, and the change of the lines that count its
// siblings.
func (f *fold) cost(i int) int {
	n := 1 + f.continued(i) + min(f.unshown[i], 1) + min(len(f.repeated(i)), 1)
	key := f.siblings(i)
	g := f.groups[key]
	if g.kept == 0 && f.unshown[key.above] == 1 {
		n-- // the line that counts groups without a line
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

// entry is one line below an owner: a vertex, or with vertex -1 only a text.
type entry struct {
	vertex int
	edge   *report.Edge
	text   string
}

// entries returns the lines below a vertex, or the top-level ones for -1: the shown vertices in
// order, and after the last of each kind the number of omitted ones.
func (t *tree) entries(i int) []entry {
	if t.whole {
		return t.all(i)
	}
	list := t.placed(i)
	rest := map[kindName][]int{}
	for _, e := range list {
		if !t.kept[e.vertex] {
			kind := t.siblings(e.vertex).kind
			rest[kind] = append(rest[kind], e.vertex)
		}
	}
	last := map[kindName]int{}
	for n, e := range list {
		last[t.siblings(e.vertex).kind] = n
	}
	var entries []entry
	var unshown []int
	shown := map[kindName]bool{}
	for n, e := range list {
		kind := t.siblings(e.vertex).kind
		if t.kept[e.vertex] {
			shown[kind] = true
			entries = append(entries, e)
		}
		switch {
		case n != last[kind] || len(rest[kind]) == 0:
		case shown[kind]:
			entries = append(entries, entry{vertex: -1, text: t.countText(rest[kind], "more ")})
		default:
			unshown = append(unshown, rest[kind]...)
		}
	}
	entries = append(entries, t.elsewhere(i)...)
	if len(unshown) > 0 {
		entries = append(entries, entry{vertex: -1, text: t.countText(unshown, "")})
	}
	return entries
}

// placed returns the vertices directly below a vertex, or the roots for -1.
func (t *tree) placed(i int) []entry {
	var list []entry
	if i < 0 {
		for _, root := range t.roots {
			if !t.hidden[root] {
				list = append(list, entry{vertex: root})
			}
		}
		return list
	}
	for _, l := range t.dependents[i] {
		if t.above[l.to] == i && !t.hidden[l.to] {
			list = append(list, entry{vertex: l.to, edge: l.edge})
		}
	}
	return list
}

// all returns the lines of a tree without omissions.
func (t *tree) all(i int) []entry {
	if i < 0 {
		return t.placed(i)
	}
	var entries []entry
	for _, l := range t.dependents[i] {
		switch {
		case t.hidden[l.to]:
		case t.above[l.to] == i:
			entries = append(entries, entry{vertex: l.to, edge: l.edge})
		default:
			t.repeats = true
			entries = append(entries, entry{vertex: -1, text: t.w.style.pick("↺ ", "^ ") + t.name(l.to)})
		}
	}
	return entries
}

// elsewhere returns the line for dependents that are shown below another owner.
func (t *tree) elsewhere(i int) []entry {
	if i < 0 {
		return nil
	}
	list := t.repeated(i)
	if len(list) == 0 {
		return nil
	}
	t.repeats = true
	text := t.w.style.pick("↺ ", "^ ") + t.name(list[0])
	if len(list) > 1 {
		text = t.w.style.pick("↺ ", "^ ") + t.w.style.countKinds(byKind(t.refs(list)), fewKinds)
	}
	return []entry{{vertex: -1, text: text}}
}

func (t *tree) refs(list []int) []object.Ref {
	refs := make([]object.Ref, len(list))
	for n, i := range list {
		refs[n] = t.nodes[i].Ref
	}
	return refs
}

// countText counts omitted vertices with everything below them, and their problems.
func (t *tree) countText(list []int, more string) string {
	s := t.w.style
	var counts troubleCounts
	todo, below := append([]int(nil), list...), -len(list)
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		below++
		counts[t.trouble[i]]++
		for _, e := range t.placed(i) {
			todo = append(todo, e.vertex)
		}
	}
	kinds := byKind(t.refs(list))
	text := s.pick("… ", "... ") + strconv.Itoa(len(list)) + " " + more
	if len(kinds) == 1 {
		text += nounOf(s, len(list), kinds[0].APIVersion, kinds[0].Kind)
	} else {
		text += "others: " + s.countKinds(kinds, mostKinds)
	}
	if below > 0 {
		text += ", " + plural(below, "object") + " below"
	}
	if words := counts.words(t.unseen); len(words) > 0 {
		text += " (" + strings.Join(words, ", ") + ")"
	}
	return text
}
