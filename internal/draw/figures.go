package draw

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// figure is an object before it has a place.
type figure struct {
	refs      []report.Ref
	look      Look
	target    bool
	note, why string
	// alike is what figures that are drawn as one have in common beside their kind,
	// look and note.
	alike string
	// group is what a box of a group stands for beside its objects; nil for others.
	group *group
	// elsewhere is drawn in no namespace's area, kinds is how many there are in a group of
	// several.
	elsewhere bool
	kinds     int
}

// line is an owner reference between figures.
type line struct {
	owner, dependent            int
	controller, blocks, removed bool
	class                       report.Class
}

// figures are the objects of a graph, sorted, and the references between them.
type figures struct {
	list  []figure
	lines []line
	// byRef finds an object, byUID what a reference leads to: of several with one UID the
	// one that was seen.
	byRef map[report.Ref]int
	byUID map[types.UID]int
}

// figuresOf makes a figure of each node, with the look of its state, and of each object
// beside that the graph does not have.
func figuresOf(g *report.Graph, beside []report.Ref) *figures {
	nodes := make([]report.Node, 0, len(g.Nodes)+len(beside))
	f := &figures{byRef: make(map[report.Ref]int, cap(nodes)), byUID: make(map[types.UID]int, cap(nodes))}
	have, known := make(map[report.Ref]bool, cap(nodes)), make(map[types.UID]bool, cap(nodes))
	add := func(n report.Node) {
		if !have[n.Ref] {
			have[n.Ref], known[n.Ref.UID] = true, true
			nodes = append(nodes, n)
		}
	}
	for _, n := range g.Nodes {
		add(n)
	}
	for _, r := range beside {
		add(report.Node{Ref: r, Observed: true})
	}
	for _, e := range g.Edges {
		for _, uid := range [2]types.UID{e.Owner, e.Dependent} {
			if !known[uid] {
				add(report.Node{Ref: report.Ref{UID: uid}, Missing: true})
			}
		}
	}
	slices.SortStableFunc(nodes, func(a, b report.Node) int { return object.Compare(object.Ref(a.Ref), object.Ref(b.Ref)) })
	f.list = make([]figure, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		f.byRef[n.Ref] = i
		if old, ok := f.byUID[n.Ref.UID]; !ok || !nodes[old].Observed && n.Observed {
			f.byUID[n.Ref.UID] = i
		}
		f.list[i] = figure{refs: []report.Ref{n.Ref}, look: lookOf(n), note: render.NodeNote(n)}
		f.list[i].alike = strings.Join(n.Finalizers, "\n")
	}
	f.connect(g.Edges)
	f.absent()
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

// connect makes lines of the references, each pair once, in the order of dependents and
// with their controllers first.
func (f *figures) connect(edges []report.Edge) {
	f.lines = make([]line, len(edges))
	for i, e := range edges {
		f.lines[i] = line{
			owner: f.byUID[e.Owner], dependent: f.byUID[e.Dependent],
			controller: e.Controller, blocks: e.BlockOwnerDeletion, class: e.Class,
		}
	}
	sortLines(f.lines)
	seen := make(map[[2]int]bool, len(f.lines))
	f.lines = slices.DeleteFunc(f.lines, func(l line) bool {
		pair := [2]int{l.owner, l.dependent}
		defer func() { seen[pair] = true }()
		return seen[pair]
	})
}

// sortLines sorts by dependent, and puts the controllers first.
func sortLines(lines []line) {
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.dependent, b.dependent), first(a.controller, b.controller), cmp.Compare(a.owner, b.owner))
	})
}

// first puts what is true first.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// absent says of objects that were not seen that they do not exist, where every reference
// to them was found to be dangling.
func (f *figures) absent() {
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

// keep leaves out all figures but the wanted ones.
func (f *figures) keep(wanted []bool) {
	number := make([]int, len(f.list))
	list := f.list[:0:0]
	for i, x := range f.list {
		number[i] = len(list)
		if wanted[i] {
			list = append(list, x)
		}
	}
	lines := f.lines[:0:0]
	for _, l := range f.lines {
		if wanted[l.owner] && wanted[l.dependent] {
			l.owner, l.dependent = number[l.owner], number[l.dependent]
			lines = append(lines, l)
		}
	}
	f.list, f.lines = list, lines
	f.byRef, f.byUID = nil, nil
}
