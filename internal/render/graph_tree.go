package render

import (
	"bufio"
	"cmp"
	"io"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	// maxDepth is the depth at which a tree is continued at the left margin. Otherwise, the size of
	// a long chain would be quadratic.
	maxDepth = 32
	// indentWidth is the width of one step of indentation.
	indentWidth = 3
	// maxIsolatedKinds is the number of kinds that are counted by name.
	maxIsolatedKinds = 8
)

// Tree is a graph with the columns that the API server prints of its objects. Printed is nil for a
// dump.
type Tree struct {
	*report.Graph
	Printed map[types.UID]object.Printed
}

// GraphTree prints owners with their dependents below them. Each object is shown once, below its
// controller or else its first owner; everywhere else a sign refers to that place. Cycles end the
// same way. What exceeds a screen is counted, unless the style is wide.
func GraphTree(out io.Writer, s Style, g Tree) error {
	t := newTree(out, s, g)
	if !t.whole && !s.NoHeaders {
		t.w.prose(t.headline(), 2)
	}
	t.write()
	t.rows.write(t.w)
	switch {
	case len(t.nodes) > 0:
	case g.Namespace != "":
		t.w.prose("No objects in namespace "+s.text(g.Namespace)+".", 2)
	default:
		t.w.line("No objects are connected by owner references.")
	}
	writeNotes(t.w, t.notes(g.Graph))
	return t.w.done()
}

// tree is the state of printing one tree.
type tree struct {
	w *writer
	*view
	*forest
	*fold
	printed   map[types.UID]object.Printed
	problems  []problem
	rows      treeRows
	requested map[types.UID]bool
	// namespace is the namespace that is omitted in names, at the time of the snapshot.
	namespace string
	takenAt   int64
	// prefix is the indentation of the current line.
	prefix []byte
	// stack is the path from the block's first line to the current one.
	stack []branch
	// continued holds vertices with dependents that are continued at the margin.
	continued []int
	maxDepth  int
	// hasRepeats reports that an object is shown a second time.
	hasRepeats bool
}

// branch is a vertex in stack with its remaining lines.
type branch struct {
	node   int
	left   []entry
	prefix int
}

func newTree(out io.Writer, s Style, g Tree) *tree {
	t := &tree{
		w:         &writer{Writer: bufio.NewWriter(out), style: s},
		view:      newView(g.Graph),
		printed:   g.Printed,
		requested: object.SetOf(g.Roots, func(r object.Ref) types.UID { return r.UID }),
		maxDepth:  maxDepth,
		namespace: g.Namespace,
		takenAt:   secondsOf(g.Source.TakenAt),
	}
	if limit := s.limit(); limit > 0 {
		t.maxDepth = min(maxDepth, max(limit/2/indentWidth, 1))
	}
	t.problems = make([]problem, len(t.nodes))
	for i := range t.nodes {
		t.problems[i] = t.problemOf(i)
	}
	t.forest = newForest(t.view)
	t.fold = newFold(t)
	return t
}

// write writes a block for each root, and the lines that count others.
func (t *tree) write() {
	for _, e := range t.entries(-1) {
		if e.vertex < 0 {
			t.rows = append(t.rows, treeRow{under: strings.Repeat(" ", indentWidth), name: e.text, loose: true})
			continue
		}
		t.writeBlock(e.vertex)
	}
}

// writeBlock writes a vertex at the margin and everything below it.
func (t *tree) writeBlock(i int) {
	t.writeVertex("", "", i, -1, nil, false)
	t.writeBelow(i)
	for len(t.continued) > 0 {
		i, t.continued = t.continued[0], t.continued[1:]
		t.rows = append(t.rows, treeRow{under: strings.Repeat(" ", indentWidth), name: t.w.style.pick("⋯ ", "... ") + t.name(i) + " (continued)"})
		t.writeBelow(i)
	}
}

// writeBelow writes all descendants of i. It uses an explicit stack, since chains may be deeper
// than a call stack allows.
func (t *tree) writeBelow(i int) {
	s := t.w.style
	t.prefix = t.prefix[:0]
	t.stack = append(t.stack[:0], branch{node: i, left: t.entries(i)})
	for len(t.stack) > 0 {
		top := &t.stack[len(t.stack)-1]
		if len(top.left) == 0 {
			t.prefix = t.prefix[:top.prefix]
			t.stack = t.stack[:len(t.stack)-1]
			continue
		}
		e := top.left[0]
		top.left = top.left[1:]
		lead, step := s.pick("├─ ", "|- "), s.pick("│  ", "|  ")
		if len(top.left) == 0 {
			lead, step = s.pick("└─ ", "`- "), "   "
		}
		depth := len(t.prefix)
		before := string(t.prefix)
		if e.vertex < 0 {
			t.rows = append(t.rows, treeRow{lead: before + lead, under: before + step + "   ", name: e.text, loose: true})
			continue
		}
		deep := len(t.stack) >= t.maxDepth && len(t.dependents[e.vertex]) > 0
		t.writeVertex(before+lead, before+step, e.vertex, top.node, e.edge, deep)
		if deep {
			t.continued = append(t.continued, e.vertex)
			continue
		}
		t.prefix = append(t.prefix, step...)
		t.stack = append(t.stack, branch{node: e.vertex, left: t.entries(e.vertex), prefix: depth})
	}
}

// writeVertex writes the line of an object: its name, its namespace unless the parent has the same,
// its state and its age. cut reports that its dependents are continued later.
func (t *tree) writeVertex(lead, under string, i, above int, edge *report.Edge, cut bool) {
	s, n := t.w.style, &t.nodes[i]
	row := treeRow{lead: lead, under: under, name: t.name(i), age: t.age(n)}
	row.nameLen = len(row.name)
	t.setState(&row, i, edge)
	inherited := n.Ref.Namespace == t.namespace || above >= 0 && t.nodes[above].Ref.Namespace == n.Ref.Namespace
	if n.Ref.Namespace != "" && !inherited {
		row.name += " -n " + s.text(n.Ref.Namespace)
	}
	if edge != nil && edge.Use != "" {
		row.name += " (" + s.text(edge.Use) + ")"
	}
	if cut {
		row.name += " (continued below)"
	}
	if t.requested[n.Ref.UID] {
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

// setState sets the state of an object: deletion marks from its metadata, and what the server
// prints.
func (t *tree) setState(row *treeRow, i int, edge *report.Edge) {
	s, p := t.w.style, t.printed[t.nodes[i].Ref.UID]
	marks := t.marks(i, edge)
	row.problem = len(marks) > 0 || p.Unready()
	row.ready = t.cell(p.Ready)
	if kind := t.problems[i]; p.Status != "" && kind != terminating && kind != absent && kind != notSeen {
		marks = append([]string{t.cell(p.Status)}, marks...)
	}
	row.status = strings.Join(marks, ", ")
	if t.printed != nil {
		row.ready, row.status = cmp.Or(row.ready, emptyCell), cmp.Or(row.status, emptyCell)
	}
	if s.NoHeaders && row.status == emptyCell {
		row.status = ""
	}
}

// maxPrinted is the maximum width of a printed value in a column.
const maxPrinted = 32

// cell returns a value printed by the server, escaped and cut.
func (t *tree) cell(raw string) string {
	text := t.w.style.text(raw)
	if t.w.style.Wide {
		return text
	}
	return cutMiddle(text, maxPrinted, t.w.style)
}

// name returns the short name of an object, or in a wide tree kubectl's full one.
func (t *tree) name(i int) string {
	if t.w.style.Wide {
		return t.w.style.objectName(t.nodes[i].Ref.KubectlName())
	}
	return t.w.style.name(t.nodes[i].Ref)
}

// age returns the age of an object; empty if it is unknown.
func (t *tree) age(n *report.Node) string {
	created := secondsOf(n.Created)
	if created == 0 || t.takenAt < created {
		return ""
	}
	age := int(t.takenAt - created)
	return ageText(&age)
}

// marks returns the special properties of a vertex and of the reference to its parent.
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
		marks = append(marks, "finalizers "+s.commaSeparated(n.Finalizers))
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

// headline counts the objects and their problems.
func (t *tree) headline() string {
	places, shown := map[string]bool{}, 0
	var counts problemCounts
	for i := range t.nodes {
		if ns := t.nodes[i].Ref.Namespace; ns != "" {
			places[ns] = true
		}
		if t.shown[i] {
			shown++
		}
		counts[t.problems[i]]++
	}
	text := report.Plural(len(t.nodes), "object")
	if len(places) > 1 {
		text += " in " + report.Plural(len(places), "namespace")
	}
	text += ", of which " + strconv.Itoa(shown) + " are shown"
	if words := counts.words(t.unseenText); len(words) > 0 {
		text += ": " + enumerate(words, len(words))
	}
	return text + "."
}

func (t *tree) notes(g *report.Graph) []string {
	var notes []string
	if t.hasRepeats && t.whole {
		notes = append(notes, t.w.style.pick("↺", "^")+" is shown in full elsewhere.")
	} else if t.hasRepeats {
		notes = append(notes, t.w.style.pick("↺", "^")+" is shown below another owner.")
	}
	notes = append(notes, unlistedNotes(t.w.style, g.Unlisted)...)
	seen := g.Complete || len(g.Unlisted) > 0 && len(g.Gaps) == 0
	notes = append(notes, completeness(t.w.style, g.Source, seen, g.Gaps)...)
	rest := ""
	if len(t.isolated) > 0 {
		rest = report.Plural(len(t.isolated), "object") + " without owners and dependents: " + t.w.style.countKinds(byKind(t.isolated), maxIsolatedKinds) + ". "
	}
	rest += hiddenText(t.generated)
	if rest != "" || !t.whole {
		notes = append(notes, rest+"Everything: -o wide")
	}
	return notes
}

// problem is the most important problem of a vertex.
type problem uint8

const (
	noProblem problem = iota
	terminating
	absent
	withoutOwner
	dangling
	blocking
	unready
	notSeen
	problemCount
)

// problemOf returns the problem of a vertex.
func (t *tree) problemOf(i int) problem {
	n := &t.nodes[i]
	if n.BeingDeleted || n.WaitingForDependents {
		return terminating
	}
	switch t.absence(i) {
	case "":
	case t.unseenText:
		return notSeen
	default:
		return absent
	}
	lost, blocks := 0, false
	for _, l := range t.owners[i] {
		if l.edge.Class == report.Dangling {
			lost++
		}
		blocks = blocks || l.edge.BlockOwnerDeletion && t.nodes[l.to].WaitingForDependents
	}
	switch {
	case lost > 0 && lost == len(t.owners[i]):
		return withoutOwner
	case lost > 0:
		return dangling
	case blocks:
		return blocking
	case t.printed[n.Ref.UID].Unready():
		return unready
	}
	return noProblem
}

// problemCounts counts vertices by problem.
type problemCounts [problemCount]int

// words returns "3 Terminating, 12 not ready"; nil without problems.
func (c *problemCounts) words(unseenText string) []string {
	var words []string
	for kind, text := range [problemCount]string{
		terminating: "Terminating", absent: "absent", withoutOwner: "without an owner that exists", dangling: "with a dangling reference",
		blocking: "blocking", unready: "not ready", notSeen: unseenText,
	} {
		if n := c[kind]; n > 0 && problem(kind) != noProblem {
			words = append(words, strconv.Itoa(n)+" "+text)
		}
	}
	return words
}
