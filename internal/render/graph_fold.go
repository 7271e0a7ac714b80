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
	// maxRows is the number of lines above which siblings of a kind are counted. maxProblemRows of
	// them may be used for vertices with problems first.
	maxRows        = 48
	maxProblemRows = 32
	// levelsPerSibling is the number of top-level objects that are shown before one more sibling
	// below an owner.
	levelsPerSibling = 8
)

// fold selects the shown vertices of a tree, so that it has at most maxRows lines: the first few
// of each kind below an owner, those with problems first. Omitted vertices are counted in their
// place.
type fold struct {
	t *tree
	// hidden vertices are only counted at the end. shown ones have a line; whole reports that all
	// others are shown.
	hidden, shown []bool
	whole         bool
	generated     int
	isolated      []object.Ref
	// urgency is the highest urgency of a vertex and everything below it.
	urgency []urgency
	// level is the rank of a vertex: lower levels are shown first (see rank).
	level  []int
	groups map[siblingKey]*siblingCount
	// hiddenGroups is the number of groups below a vertex without a line.
	hiddenGroups map[int]int
	lines        int
}

// urgency is the reason to show a vertex before others.
type urgency uint8

const (
	notUrgent urgency = iota
	hasProblem
	isRequested
)

// siblingKey identifies the objects of a kind below an owner, or those without an owner.
type siblingKey struct {
	parent int
	kind   kindName
}

// siblingCount counts siblings, and how many of them are shown.
type siblingCount struct{ total, shown int }

// newFold selects the shown vertices. A wide or short tree is shown whole.
func newFold(t *tree) *fold {
	f := &fold{t: t, hidden: make([]bool, len(t.nodes)), shown: make([]bool, len(t.nodes)), urgency: make([]urgency, len(t.nodes))}
	for i := range t.nodes {
		switch {
		case t.requested[t.nodes[i].Ref.UID]:
			f.urgency[i] = isRequested
		case t.problems[i] != noProblem:
			f.urgency[i] = hasProblem
		}
	}
	for _, i := range slices.Backward(t.order) {
		if up := t.parent[i]; up >= 0 {
			f.urgency[up] = max(f.urgency[up], f.urgency[i])
		}
	}
	f.hideRarelyNeeded()
	if f.whole = t.w.style.Wide || f.totalLines() <= maxRows; f.whole {
		for i := range f.shown {
			f.shown[i] = !f.hidden[i]
		}
		return f
	}
	f.rank()
	f.showFitting()
	return f
}

// hideRarelyNeeded removes vertices from a tree of everything: those without owners
// and dependents, and generated ones.
func (f *fold) hideRarelyNeeded() {
	if len(f.t.requested) > 0 || f.t.w.style.Wide {
		return
	}
	needed := make([]bool, len(f.t.nodes))
	for _, i := range slices.Backward(f.t.order) {
		ref := f.t.nodes[i].Ref
		switch {
		case needed[i] || f.urgency[i] != notUrgent:
		case ref.IsEvent():
			f.hidden[i] = true
		case ref.Generated():
			f.hidden[i] = true
			f.generated++
		case len(f.t.owners[i]) == 0 && len(f.t.dependents[i]) == 0:
			f.hidden[i] = true
			f.isolated = append(f.isolated, f.t.nodes[i].Ref)
		}
		if up := f.t.parent[i]; up >= 0 && !f.hidden[i] {
			needed[up] = true
		}
	}
	slices.Reverse(f.isolated)
}

// totalLines returns the number of lines of the whole tree.
func (f *fold) totalLines() int {
	n := 0
	for i := range f.t.nodes {
		if !f.hidden[i] {
			n += 1 + f.continuationLines(i) + len(f.shownElsewhere(i))
		}
	}
	return n
}

// shownElsewhere returns the dependents of a vertex that are shown elsewhere.
func (f *fold) shownElsewhere(i int) []int {
	var list []int
	for _, l := range f.t.dependents[i] {
		if f.t.parent[l.to] != i && !f.hidden[l.to] {
			list = append(list, l.to)
		}
	}
	return list
}

// continuationLines returns 1 if the tree below a vertex is continued at the margin, else 0.
func (f *fold) continuationLines(i int) int {
	if d := f.t.depth[i]; d > 0 && d%f.t.maxDepth == 0 && len(f.t.dependents[i]) > 0 {
		return 1
	}
	return 0
}

// rank computes groups and levels. Without an owner, the level is the number of objects of the kind
// and namespace before the vertex. Below an owner, it is levelsPerSibling times the number of
// siblings before it, or the level of the owner if that is higher. Generated objects come last.
//
//	Pods of the first ReplicaSet: 0, 8, 16, …    17th Service without an owner: 16
func (f *fold) rank() {
	f.level = make([]int, len(f.t.nodes))
	f.groups = map[siblingKey]*siblingCount{}
	f.hiddenGroups = map[int]int{}
	type place struct {
		siblingKey
		namespace string
	}
	before := map[place]int{}
	order := slices.Clone(f.t.order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(f.t.depth[a]-f.t.depth[b], int(f.urgency[b])-int(f.urgency[a]), a-b) })
	for _, i := range order {
		if f.hidden[i] {
			continue
		}
		key := f.siblingKey(i)
		g := f.groups[key]
		if g == nil {
			g = &siblingCount{}
			f.groups[key] = g
			f.hiddenGroups[key.parent]++
		}
		f.level[i] = before[place{key, f.t.nodes[i].Ref.Namespace}]
		before[place{key, f.t.nodes[i].Ref.Namespace}]++
		if key.parent >= 0 {
			f.level[i] = max(g.total*levelsPerSibling, f.level[key.parent])
		}
		if f.urgency[i] == notUrgent && f.t.nodes[i].Ref.Generated() {
			f.level[i] = math.MaxInt
		}
		g.total++
	}
	f.lines = min(f.hiddenGroups[-1], 1)
}

func (f *fold) siblingKey(i int) siblingKey {
	r := &f.t.nodes[i].Ref
	return siblingKey{f.t.parent[i], kindName{r.APIVersion, r.Kind}}
}

// showFitting keeps as many vertices as fit.
func (f *fold) showFitting() {
	var urgent, all []int
	for _, i := range f.t.order {
		if f.hidden[i] {
			continue
		}
		all = append(all, i)
		if f.urgency[i] != notUrgent {
			urgent = append(urgent, i)
		}
	}
	f.showUpTo(urgent, maxProblemRows, func(a, b int) int { return int(f.urgency[b]) - int(f.urgency[a]) })
	f.showUpTo(all, maxRows, func(int, int) int { return 0 })
	for _, i := range all {
		// A line that counts one object may as well show it.
		if g := f.groups[f.siblingKey(i)]; !f.shown[i] && g.total-g.shown == 1 && (f.t.parent[i] < 0 || f.shown[f.t.parent[i]]) && f.cost(i) == 0 {
			f.show(i)
		}
	}
}

// showUpTo keeps candidates in order until there is no more room. In every order, a vertex comes
// after its ancestors.
func (f *fold) showUpTo(candidates []int, most int, first func(a, b int) int) {
	slices.SortStableFunc(candidates, func(a, b int) int {
		return cmp.Or(first(a, b), cmp.Compare(f.level[a], f.level[b]), f.t.depth[a]-f.t.depth[b], a-b)
	})
	for _, i := range candidates {
		if f.shown[i] {
			continue
		}
		if f.lines+f.cost(i) > most {
			return
		}
		f.show(i)
	}
}

// cost returns the number of additional lines for showing a vertex: its own, one that counts what
// is below it, one for dependents shown elsewhere, and the change of the lines that count its
// siblings.
func (f *fold) cost(i int) int {
	n := 1 + f.continuationLines(i) + min(f.hiddenGroups[i], 1) + min(len(f.shownElsewhere(i)), 1)
	key := f.siblingKey(i)
	g := f.groups[key]
	if g.shown == 0 && f.hiddenGroups[key.parent] == 1 {
		n-- // the line that counts groups without a line
	}
	if g.shown == 0 && g.total > 1 {
		n++
	}
	if g.shown > 0 && g.shown+1 == g.total {
		n--
	}
	return n
}

func (f *fold) show(i int) {
	f.lines += f.cost(i)
	f.shown[i] = true
	key := f.siblingKey(i)
	g := f.groups[key]
	if g.shown == 0 {
		f.hiddenGroups[key.parent]--
	}
	g.shown++
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
		return t.allEntries(i)
	}
	list := t.children(i)
	rest := map[kindName][]int{}
	for _, e := range list {
		if !t.shown[e.vertex] {
			kind := t.siblingKey(e.vertex).kind
			rest[kind] = append(rest[kind], e.vertex)
		}
	}
	last := map[kindName]int{}
	for n, e := range list {
		last[t.siblingKey(e.vertex).kind] = n
	}
	var entries []entry
	var unshown []int
	shown := map[kindName]bool{}
	for n, e := range list {
		kind := t.siblingKey(e.vertex).kind
		if t.shown[e.vertex] {
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
	entries = append(entries, t.elsewhereEntry(i)...)
	if len(unshown) > 0 {
		entries = append(entries, entry{vertex: -1, text: t.countText(unshown, "")})
	}
	return entries
}

// children returns the vertices directly below a vertex, or the roots for -1.
func (t *tree) children(i int) []entry {
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
		if t.parent[l.to] == i && !t.hidden[l.to] {
			list = append(list, entry{vertex: l.to, edge: l.edge})
		}
	}
	return list
}

// allEntries returns the lines of a tree without omissions.
func (t *tree) allEntries(i int) []entry {
	if i < 0 {
		return t.children(i)
	}
	var entries []entry
	for _, l := range t.dependents[i] {
		switch {
		case t.hidden[l.to]:
		case t.parent[l.to] == i:
			entries = append(entries, entry{vertex: l.to, edge: l.edge})
		default:
			t.hasRepeats = true
			entries = append(entries, entry{vertex: -1, text: t.w.style.pick("↺ ", "^ ") + t.name(l.to)})
		}
	}
	return entries
}

// elsewhereEntry returns the line for dependents that are shown below another owner.
func (t *tree) elsewhereEntry(i int) []entry {
	if i < 0 {
		return nil
	}
	list := t.shownElsewhere(i)
	if len(list) == 0 {
		return nil
	}
	t.hasRepeats = true
	text := t.w.style.pick("↺ ", "^ ") + t.name(list[0])
	if len(list) > 1 {
		text = t.w.style.pick("↺ ", "^ ") + t.w.style.countKinds(byKind(t.refs(list)), maxKindCounts)
	}
	return []entry{{vertex: -1, text: text}}
}

func (t *tree) refs(list []int) []object.Ref {
	return object.Mapped(list, func(i int) object.Ref { return t.nodes[i].Ref })
}

// countText counts omitted vertices with everything below them, and their problems.
func (t *tree) countText(list []int, more string) string {
	s := t.w.style
	var counts problemCounts
	todo, below := append([]int(nil), list...), -len(list)
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		below++
		counts[t.problems[i]]++
		todo = append(todo, object.Mapped(t.children(i), func(e entry) int { return e.vertex })...)
	}
	kinds := byKind(t.refs(list))
	text := s.pick("… ", "... ") + strconv.Itoa(len(list)) + " " + more
	if len(kinds) == 1 {
		text += nounOf(s, len(list), kinds[0].APIVersion, kinds[0].Kind)
	} else {
		text += "others: " + s.countKinds(kinds, maxIsolatedKinds)
	}
	if below > 0 {
		text += ", " + report.Plural(below, "object") + " below"
	}
	if words := counts.words(t.unseenText); len(words) > 0 {
		text += " (" + strings.Join(words, ", ") + ")"
	}
	return text
}
