package render

import (
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

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

func (t *tree) refs(list []int) []report.Ref {
	refs := make([]report.Ref, len(list))
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
