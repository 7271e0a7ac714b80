package render

import (
	"bufio"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	// deepest is the depth at which a tree is continued at the left margin, so
	// that a long chain does not grow with the square of its length.
	deepest = 32
	// branchWidth is the width of one step of indentation.
	branchWidth = 3
)

// GraphTree is owners with their dependents below them. Each object is shown in
// full once, below its controller or else its first owner; everywhere else a
// sign refers to that place. Cycles end the same way.
func GraphTree(out io.Writer, s Style, g *report.Graph) error {
	t := newTree(out, s, g)
	if t.write(); len(t.nodes) == 0 {
		t.w.line("No objects are connected by owner references.")
	}
	writeNotes(t.w, t.notes(g))
	return t.w.done()
}

// tree is the state of writing one tree.
type tree struct {
	w *writer
	*view
	asked map[types.UID]bool
	// home is the owner below which a vertex is shown in full; -1 for none.
	home  []int
	shown []bool
	// prefix is the indentation of the current line.
	prefix []byte
	// stack is the way from the block's first line to the current one.
	stack []branch
	// later holds vertices whose dependents are continued at the margin.
	later    []int
	deepest  int
	repeated bool
	alone    int
}

// branch is a vertex whose dependents are being written.
type branch struct{ node, next, prefix int }

func newTree(out io.Writer, s Style, g *report.Graph) *tree {
	t := &tree{
		w:       &writer{Writer: bufio.NewWriter(out), style: s},
		view:    newView(g),
		asked:   make(map[types.UID]bool, len(g.Roots)),
		deepest: deepest,
	}
	if limit := s.limit(); limit > 0 {
		t.deepest = min(deepest, max(limit/2/branchWidth, 1))
	}
	for _, r := range g.Roots {
		t.asked[r.UID] = true
	}
	t.shown = make([]bool, len(t.nodes))
	t.home = make([]int, len(t.nodes))
	for i, owners := range t.owners {
		t.home[i] = homeOf(owners)
	}
	return t
}

// homeOf chooses the controller, or else the first owner that counts, or else
// the first one.
func homeOf(owners []link) int {
	for _, l := range owners {
		if l.edge.Controller {
			return l.to
		}
	}
	for _, l := range owners {
		if l.edge.Class == report.Existing {
			return l.to
		}
	}
	if len(owners) > 0 {
		return owners[0].to
	}
	return -1
}

// write writes a block for each vertex without owners, then one for each ring
// of owners.
func (t *tree) write() {
	for i := range t.nodes {
		switch {
		case t.home[i] >= 0:
		case t.plain(i):
			t.shown[i] = true
			t.alone++
		default:
			t.block(i)
		}
	}
	for i := range t.nodes {
		if !t.shown[i] {
			t.block(t.ringAbove(i))
		}
	}
}

// plain reports whether there is nothing to say of a vertex without owners in a
// tree of everything: it has no dependents, was seen, and is not being deleted.
func (t *tree) plain(i int) bool {
	n := &t.nodes[i]
	return len(t.dependents[i]) == 0 && len(t.asked) == 0 && !t.w.style.Wide &&
		!n.BeingDeleted && !n.WaitingForDependents && t.absence(i) == ""
}

// ringAbove follows the homes up from i to the ring that they end in, and
// returns the ring's first vertex.
func (t *tree) ringAbove(i int) int {
	seen := map[int]bool{}
	for !seen[i] {
		seen[i] = true
		i = t.home[i]
	}
	first := i
	for j := t.home[i]; j != i; j = t.home[j] {
		first = min(first, j)
	}
	return first
}

// block writes a vertex at the margin and everything below it.
func (t *tree) block(i int) {
	t.vertex("", "", i, -1, nil, false)
	t.below(i)
	for len(t.later) > 0 {
		i, t.later = t.later[0], t.later[1:]
		t.w.prose(t.w.style.pick("⋯ ", "... ")+t.w.style.name(t.nodes[i].Ref)+" (continued)", branchWidth)
		t.below(i)
	}
}

// below writes the dependents of i, their dependents and so on. It keeps its
// own stack: chains may be longer than a call stack is deep.
func (t *tree) below(i int) {
	s := t.w.style
	t.prefix = t.prefix[:0]
	t.stack = append(t.stack[:0], branch{node: i})
	for len(t.stack) > 0 {
		top := &t.stack[len(t.stack)-1]
		dependents := t.dependents[top.node]
		if top.next == len(dependents) {
			t.prefix = t.prefix[:top.prefix]
			t.stack = t.stack[:len(t.stack)-1]
			continue
		}
		l := dependents[top.next]
		top.next++
		lead, step := s.pick("├─ ", "|- "), s.pick("│  ", "|  ")
		if top.next == len(dependents) {
			lead, step = s.pick("└─ ", "`- "), "   "
		}
		depth := len(t.prefix)
		before := string(t.prefix)
		if t.shown[l.to] || t.home[l.to] != top.node {
			t.repeated = true
			t.entry(before+lead, before+step, s.pick("↺ ", "^ ")+s.name(t.nodes[l.to].Ref))
			continue
		}
		deep := len(t.stack) >= t.deepest && len(t.dependents[l.to]) > 0
		t.vertex(before+lead, before+step, l.to, top.node, l.edge, deep)
		if deep {
			t.later = append(t.later, l.to)
			continue
		}
		t.prefix = append(t.prefix, step...)
		t.stack = append(t.stack, branch{node: l.to, prefix: depth})
	}
}

// vertex writes an object in full: its name, its namespace where it is not that
// of the owner above, and its state. Cut says that its dependents come later.
func (t *tree) vertex(lead, under string, i, above int, edge *report.Edge, cut bool) {
	t.shown[i] = true
	s, n := t.w.style, &t.nodes[i]
	name := s.name(n.Ref)
	text := name
	if n.Ref.Namespace != "" && (above < 0 || t.nodes[above].Ref.Namespace != n.Ref.Namespace) {
		text += " -n " + s.text(n.Ref.Namespace)
	}
	marks := t.marks(i, edge)
	colour := ""
	if len(marks) > 0 {
		colour = yellow
	}
	if cut {
		marks = append(marks, "continued below")
	}
	if len(marks) > 0 {
		text += " (" + strings.Join(marks, ", ") + ")"
	}
	if s.Wide && n.Ref.Kind != "" {
		text += " uid " + s.text(string(n.Ref.UID))
	}
	if t.asked[n.Ref.UID] {
		text += s.pick(" ←", " <-")
	}
	if len(t.dependents[i]) > 0 && !cut {
		under += s.pick("│  ", "|  ")
	} else {
		under += "   "
	}
	if limit := s.limit(); limit <= 0 || width(lead)+width(text) <= limit {
		text = s.paint(colour, name) + text[len(name):]
	}
	t.entry(lead, under, text)
}

// entry writes text behind its place in the tree, and what does not fit on
// lines below that keep the branches whole.
func (t *tree) entry(lead, under, text string) {
	room := t.w.style.limit()
	if room > 0 {
		room = max(room-width(lead), leastCell)
	}
	for i, line := range wrapText(text, room, width(under)-width(lead)) {
		if i > 0 {
			lead = under
		}
		t.w.line(lead, line)
	}
}

// marks says what is special about a vertex and the reference above it.
func (t *tree) marks(i int, edge *report.Edge) []string {
	s, n := t.w.style, &t.nodes[i]
	var marks []string
	if a := t.absence(i); a != "" {
		marks = append(marks, a)
	}
	switch {
	case n.WaitingForDependents:
		marks = append(marks, "being deleted, waits for dependents")
	case n.BeingDeleted:
		marks = append(marks, "being deleted")
	}
	if len(n.Finalizers) > 0 && (n.BeingDeleted || s.Wide) {
		marks = append(marks, "finalizers "+s.texts(n.Finalizers))
	}
	if edge == nil {
		return marks
	}
	if edge.BlockOwnerDeletion && (s.Wide || t.nodes[t.byUID[edge.Owner]].WaitingForDependents) {
		marks = append(marks, "blocks")
	}
	if edge.Class == report.Dangling && t.absence(t.byUID[edge.Owner]) == "" {
		marks = append(marks, "dangling reference")
	}
	return marks
}

func (t *tree) notes(g *report.Graph) []string {
	var notes []string
	if t.alone > 0 {
		notes = append(notes, plural(t.alone, "object")+" without owners and dependents not shown; see -o wide.")
	}
	if t.repeated {
		notes = append(notes, t.w.style.pick("↺", "^")+" is shown in full elsewhere.")
	}
	return append(notes, completeness(t.w.style, g.Source, g.Complete, g.Gaps)...)
}
