package render

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// manySafe is the number of safe objects that are named for each reason unless the
// text is wide.
const manySafe = 3

// ExposureText says what the collector may take when a version is not served any more:
// whom, when, and what goes along.
func ExposureText(out io.Writer, s Style, e *report.Exposure) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	w.prose(exposureHeadline(s, e), 2)
	if len(e.Dependents) > 0 {
		w.line()
		w.table(exposedTable(s, e.Dependents))
	}
	exposureConditions(w, e)
	exposureConsequences(w, e.Consequences)
	exposureOwners(w, e)
	exposureSafe(w, e)
	var notes []string
	for _, n := range e.Notes {
		notes = append(notes, s.text(n.Message))
	}
	if e.Version.Target != "" && len(e.Dependents) > 0 {
		notes = append(notes, "Migrate the references first: --fix prints the patches.")
	}
	writeNotes(w, append(notes, completeness(s, e.Source, e.Complete, e.Gaps)...))
	return w.done()
}

func exposureHeadline(s Style, e *report.Exposure) string {
	head := s.text(e.Definition.Name) + " without " + s.text(e.Version.Name) + ": "
	if e.Version.Name == "" {
		head = s.text(e.Definition.Name) + " deleted: "
	}
	n := e.Summary
	if n.Exposed == 0 {
		return head + s.paint(green, "nothing is exposed") + safeCount(n)
	}
	var parts []string
	for _, p := range []struct {
		outcome report.Outcome
		n       int
		word    string
	}{
		{report.Deleted, n.Deleted, "deleted"}, {report.Blocked, n.Blocked, "deleted and held"},
		{report.Pruned, n.Pruned, "pruned"}, {report.Unknown, n.Unknown, "unknown"},
	} {
		if p.n > 0 {
			parts = append(parts, s.paint(outcomeColour(p.outcome), strconv.Itoa(p.n)+" "+p.word))
		}
	}
	text := head + plural(n.Exposed, "dependent") + " exposed (" + strings.Join(parts, ", ") + ")"
	if n.Consequences > 0 {
		text += ", and " + plural(n.Consequences, "object") + " with them"
	}
	return text + safeCount(n)
}

func safeCount(n report.ExposureSummary) string {
	if n.Safe == 0 {
		return ""
	}
	return "; " + strconv.Itoa(n.Safe) + " safe"
}

func exposedTable(s Style, list []report.ExposedDependent) *table {
	_, several := namespaces(list, func(d *report.ExposedDependent) report.Ref { return d.Object })
	several = several || list[0].Object.Namespace != ""
	t := &table{headers: exposedRow(several, s.Wide, "OUTCOME", "NAMESPACE", "OBJECT", "OWNER", "WHEN", "MESSAGE")}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b report.ExposedDependent) int { return outcomeRank(a.Outcome) - outcomeRank(b.Outcome) })
	for i := range sorted {
		d := &sorted[i]
		t.add(outcomeColour(d.Outcome), exposedRow(several, s.Wide, s.text(string(d.Outcome)), s.text(d.Object.Namespace),
			s.name(d.Object), s.some(d.References, 2), whenText(s, d), s.text(d.Message))...)
	}
	return t
}

func exposedRow(several, wide bool, outcome, namespace, object, owner, when, message string) []string {
	row := []string{outcome}
	if several {
		row = append(row, namespace)
	}
	row = append(row, object, owner, when)
	if wide {
		row = append(row, message)
	}
	return row
}

// laterConditions are about the time when the collector knows that the version is not
// served: then it takes nothing any more.
var laterConditions = []string{"OwnerGoesLater", "OwnerWaitsLater"}

// whenText lists what makes the collector look.
func whenText(s Style, d *report.ExposedDependent) string {
	var list []string
	for _, x := range d.When {
		if slices.Contains(laterConditions, x.Condition) {
			continue
		}
		text := s.text(x.Condition)
		if x.Outcome != d.Outcome {
			text += " (" + s.text(lower(string(x.Outcome))) + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func exposureConditions(w *writer, e *report.Exposure) {
	if len(e.Conditions) == 0 {
		return
	}
	w.section("When the garbage collector looks, and what comes later")
	t := &table{headers: []string{"CONDITION", "OBJECTS", "MEANING"}, indent: 2}
	for _, c := range e.Conditions {
		t.add("", w.style.text(c.Condition), strconv.Itoa(c.Objects), w.style.text(c.Message))
	}
	w.table(t)
}

func exposureConsequences(w *writer, list []report.ExposureConsequence) {
	if len(list) == 0 {
		return
	}
	s := w.style
	shown := list
	if !s.Wide && len(shown) > manyDependents {
		shown = shown[:manyDependents]
	}
	w.section("What goes with them")
	_, several := namespaces(shown, func(c *report.ExposureConsequence) report.Ref { return c.Object })
	several = several || shown[0].Object.Namespace != ""
	t := &table{headers: exposedRow(several, false, "OUTCOME", "NAMESPACE", "OBJECT", "WITH", "WHEN", ""), indent: 2}
	for _, c := range shown {
		when := s.text(c.Condition)
		if c.InTheEnd != "" {
			when += ", InTheEnd (" + s.text(lower(string(c.InTheEnd))) + ")"
		}
		t.add(outcomeColour(c.Outcome), exposedRow(several, false, s.text(string(c.Outcome)), s.text(c.Object.Namespace),
			s.name(c.Object), s.some(c.Because, 2), when, "")...)
	}
	w.table(t)
	if left := len(list) - len(shown); left > 0 {
		w.line("  and ", strconv.Itoa(left), " more")
	}
}

// exposureOwners says whose new dependents are lost.
func exposureOwners(w *writer, e *report.Exposure) {
	var owners []report.Ref
	for _, o := range e.Owners {
		if o.New == report.Deleted {
			owners = append(owners, o.Object)
		}
	}
	if len(owners) == 0 {
		return
	}
	w.line()
	w.prose("Whoever makes dependents of "+w.style.some(owners, manySafe)+" through "+w.style.text(e.Version.Name)+
		" loses new ones as well.", 2)
}

// exposureSafe names a few of the safe ones for each reason.
func exposureSafe(w *writer, e *report.Exposure) {
	if len(e.Safe) == 0 {
		return
	}
	s := w.style
	byReason := map[string][]report.Ref{}
	var reasons []string
	for _, x := range e.Safe {
		if byReason[x.Reason] == nil {
			reasons = append(reasons, x.Reason)
		}
		byReason[x.Reason] = append(byReason[x.Reason], x.Object)
	}
	slices.Sort(reasons)
	w.section("Safe")
	t := &table{headers: []string{"REASON", "OBJECTS", "MEANING"}, indent: 2}
	for _, r := range reasons {
		most := manySafe
		if s.Wide {
			most = len(byReason[r])
		}
		t.add("", s.text(r), s.some(byReason[r], most), s.text(reason.Short(r)))
	}
	w.table(t)
}

// ExposurePatches is what migrates the references, as commands that a shell can be
// given; nothing sends them. A name that cannot be pasted into a shell is a remark.
func ExposurePatches(out io.Writer, s Style, e *report.Exposure) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	if len(e.Patches) == 0 {
		w.line("# No reference to migrate.")
	}
	for _, p := range e.Patches {
		if p.Command == "" {
			w.line("# ", s.place(p.Object), ": its name or a reference is nothing for a shell; its patch is in -o json")
			continue
		}
		w.line(s.text(p.Command))
	}
	for _, n := range e.Notes {
		if n.Note == "NotMigrated" || n.Note == "OnlyVersion" {
			w.line("# ", s.text(n.Message))
		}
	}
	return w.done()
}
