package render

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// view indexes a graph document: vertices by number, in the order of references, whatever order the
// document has.
type view struct {
	nodes []report.Node
	// owners and dependents are edges, sorted by the vertex at their other end, without duplicates.
	owners, dependents [][]link
	byUID              map[types.UID]int
	// unseenText is the text for a vertex about which nothing is known.
	unseenText string
}

// link is one end of an edge.
type link struct {
	to   int
	edge *report.Edge
}

// newView sorts and connects the vertices. A UID that occurs only in edges gets a missing vertex,
// so all edges are kept.
func newView(g *report.Graph) *view {
	v := &view{nodes: slices.Clone(g.Nodes), byUID: make(map[types.UID]int, len(g.Nodes)), unseenText: "not in the dump"}
	if g.Source.Type == "cluster" {
		v.unseenText = "not read"
	}
	known := object.SetOf(v.nodes, func(n report.Node) types.UID { return n.Ref.UID })
	for i := range g.Edges {
		for _, uid := range [2]types.UID{g.Edges[i].Dependent, g.Edges[i].Owner} {
			if !known[uid] {
				known[uid] = true
				v.nodes = append(v.nodes, report.Node{Ref: object.Ref{UID: uid}, Missing: true})
			}
		}
	}
	slices.SortStableFunc(v.nodes, func(a, b report.Node) int { return object.Compare(a.Ref, b.Ref) })
	for i := range v.nodes { // if several vertices share a UID, edges use the observed one
		uid := v.nodes[i].Ref.UID
		if have, ok := v.byUID[uid]; !ok || !v.nodes[have].Observed && v.nodes[i].Observed {
			v.byUID[uid] = i
		}
	}
	v.connect(g.Edges)
	return v
}

func (v *view) connect(edges []report.Edge) {
	v.owners = make([][]link, len(v.nodes))
	v.dependents = make([][]link, len(v.nodes))
	for i := range edges {
		e := &edges[i]
		dependent, owner := v.byUID[e.Dependent], v.byUID[e.Owner]
		v.owners[dependent] = append(v.owners[dependent], link{owner, e})
		v.dependents[owner] = append(v.dependents[owner], link{dependent, e})
	}
	for i := range v.nodes {
		v.owners[i] = sortLinks(v.owners[i])
		v.dependents[i] = sortLinks(v.dependents[i])
	}
}

func sortLinks(links []link) []link {
	slices.SortStableFunc(links, func(a, b link) int { return a.to - b.to })
	return slices.CompactFunc(links, func(a, b link) bool { return a.to == b.to })
}

// absence describes a vertex that was not seen: absent or unseen. It is empty for an observed
// vertex. A vertex is absent only if every reference to it is dangling.
func (v *view) absence(i int) string {
	if n := &v.nodes[i]; n.Observed || !n.Virtual && !n.Missing {
		return ""
	}
	if len(v.dependents[i]) == 0 {
		return v.unseenText
	}
	for _, l := range v.dependents[i] {
		if l.edge.Class != report.Dangling {
			return v.unseenText
		}
	}
	return "absent"
}

// forest places each vertex of a graph once: below its controller, or else its first owner. In a
// cycle of owners, the first one becomes the root.
type forest struct {
	// parent is the parent of each vertex; -1 for none.
	parent []int
	depth  []int
	// order lists all vertices, each after its parent.
	order []int
	roots []int
}

func newForest(v *view) *forest {
	f := &forest{parent: make([]int, len(v.nodes)), depth: make([]int, len(v.nodes)), order: make([]int, 0, len(v.nodes))}
	for i, owners := range v.owners {
		f.parent[i] = parentOf(owners)
	}
	placed := make([]bool, len(v.nodes))
	for i := range v.nodes {
		if f.parent[i] < 0 {
			f.place(v, i, placed)
		}
	}
	for i := range v.nodes {
		if !placed[i] {
			top := f.cycleAbove(i)
			f.parent[top] = -1
			f.place(v, top, placed)
		}
	}
	return f
}

// place adds a root and everything below it.
func (f *forest) place(v *view, root int, placed []bool) {
	f.roots = append(f.roots, root)
	placed[root] = true
	next := len(f.order)
	for f.order = append(f.order, root); next < len(f.order); next++ {
		i := f.order[next]
		for _, l := range v.dependents[i] {
			if f.parent[l.to] == i && !placed[l.to] {
				placed[l.to] = true
				f.depth[l.to] = f.depth[i] + 1
				f.order = append(f.order, l.to)
			}
		}
	}
}

// parentOf returns the controller, else the first existing owner, else the first owner or used object; -1
// without any.
func parentOf(owners []link) int {
	for _, l := range owners {
		if l.edge.Controller {
			return l.to
		}
	}
	for _, l := range owners {
		if l.edge.Class == report.Existing && l.edge.Use == "" {
			return l.to
		}
	}
	if len(owners) > 0 {
		return owners[0].to
	}
	return -1
}

// cycleAbove follows the parents from i to a cycle, and returns the first vertex of the cycle.
func (f *forest) cycleAbove(i int) int {
	seen := map[int]bool{}
	for !seen[i] {
		seen[i] = true
		i = f.parent[i]
	}
	first := i
	for j := f.parent[i]; j != i; j = f.parent[j] {
		first = min(first, j)
	}
	return first
}
