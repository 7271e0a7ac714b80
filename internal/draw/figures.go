package draw

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// figure is an object before layout.
type figure struct {
	refs      []report.Ref
	look      Look
	target    bool
	note, why string
	// alike is a property that figures must share to be drawn as one, in addition to kind, look and
	// note.
	alike string
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

// of returns the figure of an object.
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

// absent changes the look of unseen objects to Absent if every reference to them is dangling.
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
