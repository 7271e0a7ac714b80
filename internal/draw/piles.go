package draw

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// maxPiles is the maximum number of piles below an owner in a namespace; the smallest are merged.
const maxPiles = 40

// pileKey is the key of the figures of a pile.
type pileKey struct {
	pilePlace
	// kind and apiVersion are empty for a merged pile.
	apiVersion, kind string
	look             Look
	noted, dangling  bool
}

// pile is a set of figures of a kind below one owner that may be drawn as one box.
type pile struct {
	pileKey

	members []int
	objects int
	urgency urgency
	kept    int
}

// urgency is the reason to show a figure before others.
type urgency uint8

const (
	notUrgent urgency = iota
	hasProblem
	isRequested
)

// piles groups the figures by pileKey.
type piles struct {
	*figures
	*tree

	list []pile
	// of is the pile of each figure, under the number of piles below it.
	of, under []int
	// dangling marks figures with a missing owner.
	dangling []bool
	// own is the urgency of a figure, inside the maximum of it and its descendants.
	own, inside []urgency
}

// newPiles groups all figures. Namespaces without an area share piles.
func newPiles(f *figures, most int) *piles {
	p := &piles{figures: f, tree: f.tree(), dangling: make([]bool, len(f.list))}
	for _, l := range f.lines {
		if l.class == report.Dangling {
			p.dangling[l.dependent] = true
		}
	}
	p.own, p.inside = make([]urgency, len(f.list)), make([]urgency, len(f.list))
	for i := range f.list {
		switch x := &f.list[i]; {
		case x.target:
			p.own[i] = isRequested
		case !isUnremarkable(x.look) || x.note != "" || p.dangling[i]:
			p.own[i] = hasProblem
		}
		p.inside[i] = p.own[i]
	}
	for _, i := range slices.Backward(p.order) {
		if up := p.parent[i]; up >= 0 {
			p.inside[up] = max(p.inside[up], p.inside[i])
		}
	}
	p.fill(p.opened(most))
	return p
}

// pilePlace is what adjacent piles have in common: their owner and their namespace.
type pilePlace struct {
	parent int
	// namespace is empty for cluster-scoped objects. elsewhere marks namespaces without an area.
	namespace string
	elsewhere bool
}

// fill assigns each figure to its pile.
func (p *piles) fill(open map[string]bool) {
	number := map[pileKey]int{}
	p.of, p.under = make([]int, len(p.figures.list)), make([]int, len(p.figures.list))
	at := map[pilePlace][]int{}
	for i := range p.of {
		key := p.pileKeyOf(i, open)
		n, ok := number[key]
		if !ok {
			n = len(p.list)
			number[key] = n
			p.list = append(p.list, pile{pileKey: key})
			at[key.pilePlace] = append(at[key.pilePlace], n)
		}
		x := &p.list[n]
		p.of[i] = n
		x.members = append(x.members, i)
		x.objects += len(p.figures.list[i].refs)
		x.urgency = max(x.urgency, p.inside[i])
	}
	for where, beside := range at {
		if len(beside) > maxPiles {
			p.merge(where, beside)
		}
	}
	for n := range p.list {
		if x := &p.list[n]; x.parent >= 0 && len(x.members) > 0 {
			p.under[x.parent]++
		}
	}
}

func (p *piles) pileKeyOf(i int, open map[string]bool) pileKey {
	x, r := &p.figures.list[i], &p.figures.list[i].refs[0]
	key := pileKey{pilePlace: pilePlace{parent: p.parent[i]}, apiVersion: r.APIVersion, kind: r.Kind, look: x.look, noted: x.note != "", dangling: p.dangling[i]}
	if open == nil || open[r.Namespace] {
		key.namespace = r.Namespace
	} else {
		key.elsewhere = true
	}
	return key
}

// merge merges the smallest piles of a place into one, so that maxPiles are left. Piles with
// problems are merged last.
func (p *piles) merge(where pilePlace, beside []int) {
	slices.SortFunc(beside, func(a, b int) int {
		x, y := &p.list[a], &p.list[b]
		return cmp.Or(cmp.Compare(y.urgency, x.urgency), y.objects-x.objects, a-b)
	})
	rest := pile{pileKey: pileKey{pilePlace: where, look: Plain}}
	for _, n := range beside[maxPiles-1:] {
		rest.members = append(rest.members, p.list[n].members...)
		rest.objects += p.list[n].objects
		rest.urgency = max(rest.urgency, p.list[n].urgency)
		p.list[n].members = nil
	}
	slices.Sort(rest.members)
	for _, i := range rest.members {
		p.of[i] = beside[maxPiles-1]
	}
	p.list[beside[maxPiles-1]] = rest
}

// maxAreas is the maximum number of namespaces with an area, unless all have one.
const maxAreas = 24

// opened returns the namespaces with an area of their own; nil if all have one. It takes namespaces
// with problems first, then those with the most objects, until there are maxAreas or their top
// piles need half of most boxes.
func (p *piles) opened(most int) map[string]bool {
	type space struct {
		name    string
		urgency urgency
		objects int
		piles   map[pileKey]bool
	}
	byName := map[string]*space{}
	var all []*space
	for i := range p.figures.list {
		ns := p.figures.list[i].refs[0].Namespace
		s := byName[ns]
		if s == nil {
			s = &space{name: ns, piles: map[pileKey]bool{}}
			byName[ns] = s
			all = append(all, s)
		}
		s.objects += len(p.figures.list[i].refs)
		s.urgency = max(s.urgency, p.own[i])
		if p.parent[i] < 0 && len(s.piles) < maxPiles {
			s.piles[p.pileKeyOf(i, nil)] = true
		}
	}
	slices.SortFunc(all, func(a, b *space) int {
		return cmp.Or(cmp.Compare(b.urgency, a.urgency), b.objects-a.objects, cmp.Compare(a.name, b.name))
	})
	open, room := map[string]bool{}, most/2
	for _, s := range all {
		if len(open) == maxAreas || len(open) > 0 && len(s.piles) > room {
			return open
		}
		open[s.name] = true
		room -= len(s.piles)
	}
	return nil
}

// tree lists each figure once, below its controller or else its first owner. Cycles are broken at
// their first figure.
type tree struct {
	// order lists every owner before its dependents.
	order []int
	// parent is the parent of each figure, or -1; depth is the number of its ancestors.
	parent, depth []int
}

func (f *figures) tree() *tree {
	n := len(f.list)
	t := &tree{order: make([]int, 0, n), parent: make([]int, n), depth: make([]int, n)}
	for i := range t.parent {
		t.parent[i] = -1
	}
	for _, l := range f.lines {
		// Lines are sorted, controllers first.
		if t.parent[l.dependent] < 0 && l.owner != l.dependent {
			t.parent[l.dependent] = l.owner
		}
	}
	below := make([][]int, n)
	for i, up := range t.parent {
		if up >= 0 {
			below[up] = append(below[up], i)
		}
	}
	listed := make([]bool, n)
	var left []int
	list := func(root int) {
		for left = append(left[:0], root); len(left) > 0; {
			i := left[len(left)-1]
			left = left[:len(left)-1]
			if listed[i] {
				continue
			}
			listed[i] = true
			if i != root {
				t.depth[i] = t.depth[t.parent[i]] + 1
			}
			t.order = append(t.order, i)
			for _, dependent := range slices.Backward(below[i]) {
				left = append(left, dependent)
			}
		}
	}
	for i := range n {
		if t.parent[i] < 0 {
			list(i)
		}
	}
	for i := range n {
		if !listed[i] {
			t.parent[i] = -1
			list(i)
		}
	}
	return t
}
