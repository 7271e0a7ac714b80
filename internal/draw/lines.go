package draw

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// line is an owner reference between figures.
type line struct {
	owner, dependent            int
	controller, blocks, removed bool
	class                       report.Class
}

// connect converts references to lines, one for each pair, sorted by dependent with controllers
// first.
func (f *figures) connect(edges []report.Edge) {
	lines := make([]line, len(edges))
	for i := range edges {
		e := &edges[i]
		lines[i] = line{
			owner: f.nodes.byUID[e.Owner], dependent: f.nodes.byUID[e.Dependent],
			controller: e.Controller, blocks: e.BlockOwnerDeletion, class: e.Class,
		}
	}
	lines = sortLines(lines, len(f.list))
	f.lines = lines[:0]
	seen := map[int]bool{}
	for i := range lines {
		l := lines[i]
		if i == 0 || l.dependent != lines[i-1].dependent {
			clear(seen)
		}
		if !seen[l.owner] {
			seen[l.owner] = true
			f.lines = append(f.lines, l)
		}
	}
}

// sortLines sorts lines by dependent with controllers first. It is a counting sort, since there are
// many lines and few of each dependent.
func sortLines(lines []line, figures int) []line {
	next := make([]int, figures+1)
	for i := range lines {
		next[lines[i].dependent+1]++
	}
	for i := range figures {
		next[i+1] += next[i]
	}
	sorted := make([]line, len(lines))
	for _, l := range lines {
		sorted[next[l.dependent]] = l
		next[l.dependent]++
	}
	from := 0
	for _, to := range next[:figures] {
		if to-from > 1 {
			slices.SortStableFunc(sorted[from:to], func(a, b line) int {
				return cmp.Or(first(a.controller, b.controller), cmp.Compare(a.owner, b.owner))
			})
		}
		from = to
	}
	return sorted
}

// first sorts true first.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
