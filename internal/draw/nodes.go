package draw

import (
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// nodes are the sources of figures, each object once, in object.Compare order.
type nodes struct {
	list []*report.Node
	// byUID is the target of references: among several with one UID the observed one.
	byUID map[types.UID]int
}

// nodesAmong returns the nodes of a graph, further objects in beside, and UIDs that occur only in
// edges.
func nodesAmong(g *report.Graph, beside []report.Ref) *nodes {
	n := &nodes{list: make([]*report.Node, len(g.Nodes)), byUID: make(map[types.UID]int, len(g.Nodes))}
	for i := range g.Nodes {
		n.list[i] = &g.Nodes[i]
	}
	n.sort()
	var more []*report.Node
	for _, r := range beside {
		if _, ok := n.at(r); !ok {
			more = append(more, &report.Node{Ref: r, Observed: true})
		}
	}
	n.add(more)
	more = nil
	for i := range g.Edges {
		for _, uid := range [2]types.UID{g.Edges[i].Owner, g.Edges[i].Dependent} {
			if _, ok := n.byUID[uid]; !ok {
				more = append(more, &report.Node{Ref: report.Ref{UID: uid}, Missing: true})
			}
		}
	}
	n.add(more)
	return n
}

// at finds an object.
func (n *nodes) at(r report.Ref) (int, bool) {
	if i, ok := n.byUID[r.UID]; ok && n.list[i].Ref == r {
		return i, true
	}
	return sort.Find(len(n.list), func(i int) int { return object.Compare(object.Ref(r), object.Ref(n.list[i].Ref)) })
}

func (n *nodes) add(more []*report.Node) {
	if len(more) > 0 {
		n.list = append(n.list, more...)
		n.sort()
	}
}

// sort sorts the nodes and removes duplicates.
func (n *nodes) sort() {
	slices.SortStableFunc(n.list, func(a, b *report.Node) int { return object.Compare(object.Ref(a.Ref), object.Ref(b.Ref)) })
	n.list = slices.CompactFunc(n.list, func(a, b *report.Node) bool { return a.Ref == b.Ref })
	clear(n.byUID)
	for i, x := range n.list {
		if old, ok := n.byUID[x.Ref.UID]; !ok || !n.list[old].Observed && x.Observed {
			n.byUID[x.Ref.UID] = i
		}
	}
}
