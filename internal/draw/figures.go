package draw

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// figure is an object before layout.
type figure struct {
	refs      []object.Ref
	look      Look
	target    bool
	note, why string
	// foldProperty is a property that figures must share to be drawn as one, in addition to kind,
	// look and note.
	foldProperty string
	// group is the content of a group box in addition to its objects; nil for others.
	group *group
	// elsewhere reports that the figure is drawn outside of the areas of namespaces. kinds is the
	// number of kinds in a group of several.
	elsewhere bool
	kinds     int
}

// figures are the sorted objects of a graph, and the references between them.
type figures struct {
	list  []figure
	lines []line
	// nodes are the source of list; nil once list has changed.
	nodes *nodes
}

// figuresOf returns a figure for each node, with the look of its state, and for each further object
// in beside.
func figuresOf(g *report.Graph, beside []object.Ref) *figures {
	f := &figures{nodes: nodesAmong(g, beside)}
	f.list = make([]figure, len(f.nodes.list))
	refs := make([]object.Ref, len(f.list))
	for i, n := range f.nodes.list {
		refs[i] = n.Ref
		f.list[i] = figure{refs: refs[i : i+1 : i+1], look: lookOf(n), note: render.NodeNote(n), foldProperty: strings.Join(n.Finalizers, "\n")}
	}
	f.connect(g.Edges)
	f.markAbsent()
	return f
}

func lookOf(n *report.Node) Look {
	switch {
	case n.Missing || n.Virtual && !n.Observed:
		return Unseen
	case n.WaitingForDependents:
		return Waiting
	case n.BeingDeleted:
		return BeingDeleted
	}
	return Plain
}

// markAbsent changes the look of unseen objects to Absent if every reference to them is dangling.
func (f *figures) markAbsent() {
	named, doubted := make([]bool, len(f.list)), make([]bool, len(f.list))
	for _, l := range f.lines {
		named[l.owner] = true
		doubted[l.owner] = doubted[l.owner] || l.class != report.Dangling
	}
	for i := range f.list {
		if f.list[i].look == Unseen && named[i] && !doubted[i] {
			f.list[i].look = Absent
		}
	}
}

// keep removes all figures except the wanted ones.
func (f *figures) keep(wanted []bool) {
	number := make([]int, len(f.list))
	list := f.list[:0]
	for i := range f.list {
		number[i] = len(list)
		if wanted[i] {
			list = append(list, f.list[i])
		}
	}
	clear(f.list[len(list):])
	lines := f.lines[:0]
	for _, l := range f.lines {
		if wanted[l.owner] && wanted[l.dependent] {
			l.owner, l.dependent = number[l.owner], number[l.dependent]
			lines = append(lines, l)
		}
	}
	f.list, f.lines = list, lines
	f.nodes = nil
}

// nodes are the sources of figures, each object once, in object.Compare order.
type nodes struct {
	list []*report.Node
	// byUID is the target of references: among several with one UID the observed one.
	byUID map[types.UID]int
}

// nodesAmong returns the nodes of a graph, further objects in beside, and UIDs that occur only in
// edges.
func nodesAmong(g *report.Graph, beside []object.Ref) *nodes {
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
				more = append(more, &report.Node{Ref: object.Ref{UID: uid}, Missing: true})
			}
		}
	}
	n.add(more)
	return n
}

// at finds an object.
func (n *nodes) at(r object.Ref) (int, bool) {
	if i, ok := n.byUID[r.UID]; ok && n.list[i].Ref == r {
		return i, true
	}
	return sort.Find(len(n.list), func(i int) int { return object.Compare(r, n.list[i].Ref) })
}

func (n *nodes) add(more []*report.Node) {
	if len(more) > 0 {
		n.list = append(n.list, more...)
		n.sort()
	}
}

// sort sorts the nodes and removes duplicates.
func (n *nodes) sort() {
	slices.SortStableFunc(n.list, func(a, b *report.Node) int { return object.Compare(a.Ref, b.Ref) })
	n.list = slices.CompactFunc(n.list, func(a, b *report.Node) bool { return a.Ref == b.Ref })
	clear(n.byUID)
	for i, x := range n.list {
		if old, ok := n.byUID[x.Ref.UID]; !ok || !n.list[old].Observed && x.Observed {
			n.byUID[x.Ref.UID] = i
		}
	}
}

// line is a reference between figures.
type line struct {
	owner, dependent            int
	controller, blocks, removed bool
	class                       report.Class
	use                         string
}

// connect converts references to lines, one for each pair, sorted by dependent with controllers
// first.
func (f *figures) connect(edges []report.Edge) {
	lines := make([]line, len(edges))
	for i := range edges {
		e := &edges[i]
		lines[i] = line{
			owner: f.nodes.byUID[e.Owner], dependent: f.nodes.byUID[e.Dependent],
			controller: e.Controller, blocks: e.BlockOwnerDeletion, class: e.Class, use: e.Use,
		}
	}
	sortLines(lines)
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

// sortLines sorts lines by dependent with controllers first.
func sortLines(lines []line) {
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(a.dependent-b.dependent, object.TrueFirst(a.controller, b.controller), a.owner-b.owner)
	})
}

// minFolded is the minimum number of objects that are drawn as one.
const minFolded = 4

// foldKey is the key of objects that are drawn as one.
type foldKey struct {
	apiVersion, kind, namespace string
	look                        Look
	note, property, owners      string
}

// fold merges figures with the same kind, look and owners and without dependents. Targets are not
// merged.
func (f *figures) fold() {
	owners, leaf := make([]strings.Builder, len(f.list)), slices.Repeat([]bool{true}, len(f.list))
	for _, l := range f.lines {
		leaf[l.owner] = false
		// Lines are sorted, so that the same owners give the same text.
		fmt.Fprintln(&owners[l.dependent], l.owner, l.controller, l.blocks, l.removed, l.class)
	}
	alike, order := map[foldKey][]int{}, []foldKey{}
	for i := range f.list {
		if x := &f.list[i]; leaf[i] && !x.target {
			r := x.refs[0]
			key := foldKey{r.APIVersion, r.Kind, r.Namespace, x.look, x.note, x.foldProperty, owners[i].String()}
			if alike[key] == nil {
				order = append(order, key)
			}
			alike[key] = append(alike[key], i)
		}
	}
	wanted := slices.Repeat([]bool{true}, len(f.list))
	for _, key := range order {
		same := alike[key]
		if len(same) < minFolded {
			continue
		}
		one := &f.list[same[0]]
		for _, i := range same[1:] {
			one.refs = append(one.refs, f.list[i].refs...)
			wanted[i] = false
		}
	}
	f.keep(wanted)
}

// prefix returns the common prefix of names.
func prefix(names []string) string {
	shared := names[0]
	for _, name := range names[1:] {
		n := 0
		for n < len(shared) && n < len(name) && shared[n] == name[n] {
			n++
		}
		shared = shared[:n]
	}
	return strings.ToValidUTF8(shared, "")
}
