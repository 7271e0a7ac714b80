package draw

import (
	"strings"

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

// figures are the objects of a graph, sorted, and the references between them.
type figures struct {
	list  []figure
	lines []line
	// nodes are what the list was made of; nil once that has changed.
	nodes *nodes
}

// figuresOf makes a figure of each node, with the look of its state, and of each object
// beside that the graph does not have.
func figuresOf(g *report.Graph, beside []report.Ref) *figures {
	f := &figures{nodes: nodesAmong(g, beside)}
	f.list = make([]figure, len(f.nodes.list))
	refs := make([]report.Ref, len(f.list))
	for i, n := range f.nodes.list {
		refs[i] = n.Ref
		f.list[i] = figure{refs: refs[i : i+1 : i+1], look: lookOf(n), note: render.NodeNote(n), alike: strings.Join(n.Finalizers, "\n")}
	}
	f.connect(g.Edges)
	f.absent()
	return f
}

// of is the figure of an object that figures were made of.
func (f *figures) of(r report.Ref) *figure {
	i, _ := f.nodes.at(r)
	return &f.list[i]
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
