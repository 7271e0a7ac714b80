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

const (
	// manyExposed is the number of dependents that a screen shows, if their names are so
	// short that they take no more than mostExposedLines.
	manyExposed      = 10
	mostExposedLines = 12
)

// ExposureText says what the collector may take when a version is not served any more.
// On a screen that is whom, and what to do; wide also when, what goes along, and who is
// safe.
func ExposureText(out io.Writer, s Style, e *report.Exposure) error {
	s = s.screen()
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	w.prose(exposureHeadline(s, e), 2)
	var notes []string
	if s.Wide {
		exposureDetails(w, e)
	} else {
		exposureScreen(w, e)
	}
	if s.Wide || len(e.Dependents) == 0 {
		for _, n := range e.Notes {
			notes = append(notes, s.text(n.Message))
		}
	}
	if e.Version.Target != "" && len(e.Dependents) > 0 {
		notes = append(notes, "Migrate the references first: --fix prints the patches.")
	}
	writeNotes(w, append(notes, completeness(s, e.Source, e.Complete, e.Gaps)...))
	return w.done()
}

// exposureScreen is the first dependents, what makes the garbage collector look at them,
// and how many objects go along.
func exposureScreen(w *writer, e *report.Exposure) {
	s := w.style
	if len(e.Dependents) > 0 {
		w.line()
		sorted := byOutcome(e.Dependents)
		shown := sorted[:min(len(sorted), manyExposed)]
		for len(shown) > 1 && exposedScreen(s, shown).height(s) > mostExposedLines {
			shown = shown[:len(shown)-1]
		}
		w.table(exposedScreen(s, shown))
		if left := len(sorted) - len(shown); left > 0 {
			w.prose("and "+strconv.Itoa(left)+" more: -o wide", 2)
		}
		w.line()
	}
	if len(e.Consequences) > 0 {
		refs := make([]report.Ref, len(e.Consequences))
		for i := range refs {
			refs[i] = e.Consequences[i].Object
		}
		w.prose("With them: "+s.crowd(each(refs), s.limit()), 2)
	}
	if left := unshown(e); len(left) > 0 {
		if len(e.Dependents) == 0 && len(e.Consequences) == 0 {
			w.line()
		}
		w.prose(sentenceCase(enumerate(left, len(left)))+": -o wide", 2)
	}
}

// exposedScreen are the columns of dependents that a screen has room for.
func exposedScreen(s Style, list []report.ExposedDependent) *table {
	t := &table{headers: []string{"OUTCOME", "OBJECT", "OWNER"}}
	for i := range list {
		d := &list[i]
		owners := make([]string, min(len(d.References), 2))
		for j := range owners {
			owners[j] = s.name(d.References[j])
		}
		t.add(outcomeColour(d.Outcome), s.text(string(d.Outcome)), s.place(d.Object), enumerate(owners, len(d.References)))
	}
	return t
}

// unshown is what an exposure has that a screen does not show.
func unshown(e *report.Exposure) []string {
	var left []string
	if n := len(e.Conditions); n > 0 {
		left = append(left, "when that happens ("+plural(n, "case")+")")
	}
	if n := len(e.Safe); n > 0 {
		left = append(left, "who is safe ("+strconv.Itoa(n)+")")
	}
	if n := len(e.Notes); n > 0 && len(e.Dependents) > 0 {
		left = append(left, plural(n, "note")+" on the version")
	}
	return left
}

// exposureDetails is all of it.
func exposureDetails(w *writer, e *report.Exposure) {
	if len(e.Dependents) > 0 {
		w.line()
		w.table(exposedTable(w.style, e.Dependents))
	}
	exposureConditions(w, e)
	exposureConsequences(w, e.Consequences)
	exposureOwners(w, e)
	exposureSafe(w, e)
}

// byOutcome are the dependents in the order in which people care.
func byOutcome(list []report.ExposedDependent) []report.ExposedDependent {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b report.ExposedDependent) int { return outcomeRank(a.Outcome) - outcomeRank(b.Outcome) })
	return sorted
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
	sorted := byOutcome(list)
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
	w.section("What goes with them")
	_, several := namespaces(list, func(c *report.ExposureConsequence) report.Ref { return c.Object })
	several = several || list[0].Object.Namespace != ""
	t := &table{headers: exposedRow(several, false, "OUTCOME", "NAMESPACE", "OBJECT", "WITH", "WHEN", ""), indent: 2}
	for _, c := range list {
		when := s.text(c.Condition)
		if c.InTheEnd != "" {
			when += ", InTheEnd (" + s.text(lower(string(c.InTheEnd))) + ")"
		}
		t.add(outcomeColour(c.Outcome), exposedRow(several, false, s.text(string(c.Outcome)), s.text(c.Object.Namespace),
			s.name(c.Object), s.some(c.Because, 2), when, "")...)
	}
	w.table(t)
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
	w.prose("Whoever makes dependents of "+w.style.some(owners, fewNames)+" through "+w.style.text(e.Version.Name)+
		" loses new ones as well.", 2)
}

// exposureSafe names the safe ones for each reason.
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
		t.add("", s.text(r), s.some(byReason[r], len(byReason[r])), s.text(reason.Short(r)))
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
