package render

import (
	"bufio"
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"
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
	t.write()
	t.rows.write(t.w)
	switch {
	case len(t.nodes) > 0:
	case g.Namespace != "":
		t.w.prose("No objects in namespace "+s.text(g.Namespace)+".", 2)
	default:
		t.w.line("No objects are connected by owner references.")
	}
	writeNotes(t.w, t.notes(g))
	return t.w.done()
}

// tree is the state of writing one tree.
type tree struct {
	w *writer
	*view
	rows  treeRows
	asked map[types.UID]bool
	// in is the namespace that goes without saying, at when the objects were looked at.
	in string
	at int64
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
	// alone are those that are only counted, by their kinds.
	alone map[string]int
}

// branch is a vertex whose dependents are being written.
type branch struct{ node, next, prefix int }

func newTree(out io.Writer, s Style, g *report.Graph) *tree {
	t := &tree{
		w:       &writer{Writer: bufio.NewWriter(out), style: s},
		view:    newView(g),
		asked:   make(map[types.UID]bool, len(g.Roots)),
		deepest: deepest,
		in:      g.Namespace,
		at:      secondsOf(g.Source.TakenAt),
		alone:   map[string]int{},
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
			t.alone[report.ShortKindName(t.nodes[i].Ref.APIVersion, t.nodes[i].Ref.Kind)]++
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
		t.rows = append(t.rows, treeRow{under: strings.Repeat(" ", branchWidth), name: t.w.style.pick("⋯ ", "... ") + t.name(i) + " (continued)"})
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
			t.rows = append(t.rows, treeRow{lead: before + lead, under: before + step, name: s.pick("↺ ", "^ ") + t.name(l.to)})
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

// vertex writes an object in full: its name, its namespace where it is not that of the owner
// above, its state and its age. Cut says that its dependents come later.
func (t *tree) vertex(lead, under string, i, above int, edge *report.Edge, cut bool) {
	t.shown[i] = true
	s, n := t.w.style, &t.nodes[i]
	row := treeRow{lead: lead, under: under, name: t.name(i), status: strings.Join(t.marks(i, edge), ", "), age: t.age(n)}
	row.known = len(row.name)
	inherited := n.Ref.Namespace == t.in || above >= 0 && t.nodes[above].Ref.Namespace == n.Ref.Namespace
	if n.Ref.Namespace != "" && !inherited {
		row.name += " -n " + s.text(n.Ref.Namespace)
	}
	if cut {
		row.name += " (continued below)"
	}
	if t.asked[n.Ref.UID] {
		row.name += s.pick(" ←", " <-")
	}
	if s.Wide && n.Ref.Kind != "" {
		row.uid = s.text(string(n.Ref.UID))
	}
	row.under += "   "
	if len(t.dependents[i]) > 0 && !cut {
		row.under = under + s.pick("│  ", "|  ")
	}
	t.rows = append(t.rows, row)
}

// name is the object as people write it at a prompt, and in a wide tree as kubectl does.
func (t *tree) name(i int) string {
	if t.w.style.Wide {
		return t.w.style.object(t.nodes[i].Ref.KubectlName())
	}
	return t.w.style.name(t.nodes[i].Ref)
}

// age is how long an object has been there; empty where that is not known.
func (t *tree) age(n *report.Node) string {
	created := secondsOf(n.Created)
	if created == 0 || t.at < created {
		return ""
	}
	age := int(t.at - created)
	return span(&age)
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
		marks = append(marks, "Terminating, waits for dependents")
	case n.BeingDeleted:
		marks = append(marks, "Terminating")
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
	if len(t.alone) > 0 {
		notes = append(notes, "Without owners and dependents: "+t.others()+". See -o wide.")
	}
	if t.repeated {
		notes = append(notes, t.w.style.pick("↺", "^")+" is shown in full elsewhere.")
	}
	return append(notes, completeness(t.w.style, g.Source, g.Complete, g.Gaps)...)
}

// others counts what is not shown by kind, the many first.
func (t *tree) others() string {
	kinds := slices.SortedFunc(maps.Keys(t.alone), func(a, b string) int {
		return cmp.Or(t.alone[b]-t.alone[a], strings.Compare(a, b))
	})
	counts := make([]string, len(kinds))
	for i, kind := range kinds {
		counts[i] = t.w.style.text(kind) + " (" + strconv.Itoa(t.alone[kind]) + ")"
	}
	return strings.Join(counts, ", ")
}
