package render

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// maxWaiting is the number of held or waiting objects that are named. maxAlike is the number of
// rows of one kind in a table, unless it is wide.
const (
	maxWaiting = 3
	maxAlike   = 5
)

// StuckText prints how many objects are stuck, then each cause with its objects, evidence and
// commands. Wide output has a table of all objects and all evidence.
func StuckText(out io.Writer, s Style, d *report.Diagnosis) error {
	s = s.forScreen()
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	w.prose(stuckSummary(s, d), 2)
	// Each cause names the controllers that were not seen.
	known := d.Complete || len(d.Findings) > 0 && !slices.ContainsFunc(d.Gaps, func(g report.Gap) bool { return g.Matters }) && !s.Wide
	notes := linesOf(s, func(x *writer) { writeNotes(x, stuckMissing(s, d, known)) })
	switch {
	case len(d.Findings) == 0:
	case s.Wide:
		w.line()
		t, _ := waitingTable(s, d.Findings)
		w.table(t)
		for _, e := range chainEndsOf(d.Findings) {
			writeEnd(w, e)
		}
	default:
		head := linesOf(s, func(x *writer) { x.prose(stuckSummary(s, d), 2) })
		writeCauses(w, stuckCausesOf(d.Findings), maxScreenLines-len(head)-len(notes))
	}
	w.lines(notes)
	return w.done()
}

// waitingTable returns a table with one row for each finding, limited to the first few of a kind.
// left counts the others.
func waitingTable(s Style, findings []report.Finding) (t *table, left int) {
	t = &table{headers: []string{"SEVERITY", "NAMESPACE", "OBJECT", "FOR", "CODE", "CONTROLLER", "WAITS FOR"}}
	type kind struct{ apiVersion, kind, namespace, code, finalizer string }
	seen := map[kind]int{}
	for _, f := range bySeverity(findings) {
		k := kind{f.Object.APIVersion, f.Object.Kind, f.Object.Namespace, f.Code, f.Finalizer}
		if seen[k]++; seen[k] > maxAlike && !s.Wide {
			left++
			continue
		}
		t.add(severityColours[f.Severity], s.text(string(f.Severity)), s.text(f.Object.Namespace), s.name(f.Object),
			ageText(f.ForSeconds), s.text(f.Code), s.text(string(f.Verdict)), endText(s, f))
	}
	return t, left
}

func bySeverity(findings []report.Finding) []*report.Finding {
	sorted := make([]*report.Finding, len(findings))
	for i := range findings {
		sorted[i] = &findings[i]
	}
	slices.SortStableFunc(sorted, func(a, b *report.Finding) int {
		return cmp.Compare(severityRank(a.Severity), severityRank(b.Severity))
	})
	return sorted
}

// endText names what blocks the object.
func endText(s Style, f *report.Finding) string {
	var parts []string
	if last := lastLink(f); last != f.Object {
		parts = append(parts, s.namespacedName(last))
	}
	if f.Finalizer != "" {
		parts = append(parts, s.text(f.Finalizer))
	}
	if f.More > 0 {
		parts = append(parts, "and "+strconv.Itoa(f.More)+" more")
	}
	return strings.Join(parts, " ")
}

func lastLink(f *report.Finding) object.Ref {
	if len(f.Chain) == 0 {
		return f.Object
	}
	return f.Chain[len(f.Chain)-1].Ref
}

// ageText returns a duration as kubectl shows an age: short ones in two units.
//
// Upstream: apimachinery/pkg/util/duration/duration.go HumanDuration.
func ageText(seconds *int) string {
	if seconds == nil {
		return ""
	}
	const minute, hour, day, year = 60, 3600, 86400, 365 * 86400
	n := *seconds
	units := func(unit int, name string, below int, rest string) string {
		text := strconv.Itoa(n/unit) + name
		if left := n % unit / below; left > 0 && rest != "" {
			text += strconv.Itoa(left) + rest
		}
		return text
	}
	switch {
	case n < 2*minute:
		return units(1, "s", 1, "")
	case n < 10*minute:
		return units(minute, "m", 1, "s")
	case n < 3*hour:
		return units(minute, "m", 1, "")
	case n < 8*hour:
		return units(hour, "h", minute, "m")
	case n < 2*day:
		return units(hour, "h", 1, "")
	case n < 8*day:
		return units(day, "d", hour, "h")
	case n < 2*year:
		return units(day, "d", 1, "")
	case n < 8*year:
		return units(year, "y", day, "d")
	default:
		return units(year, "y", 1, "")
	}
}

// chainEnd is one end of chains with its findings. The finding with the longest chain represents
// them.
type chainEnd struct {
	longest *report.Finding
	// endFinding is the finding of the object at the end itself, which has the best words.
	endFinding *report.Finding
	waiting    []object.Ref
}

// chainEndsOf groups the findings by their ends, in the order of the table.
func chainEndsOf(findings []report.Finding) []*chainEnd {
	type key struct {
		end             object.Ref
		code, finalizer string
	}
	var list []*chainEnd
	found := map[key]*chainEnd{}
	for _, f := range bySeverity(findings) {
		k := key{end: lastLink(f), code: f.Code, finalizer: f.Finalizer}
		e := found[k]
		if e == nil {
			e = &chainEnd{longest: f}
			found[k] = e
			list = append(list, e)
		}
		if f.Object == k.end {
			e.endFinding = f
		} else {
			e.waiting = append(e.waiting, f.Object)
		}
		if len(f.Chain) > len(e.longest.Chain) {
			e.longest = f
		}
	}
	return list
}

// writeEnd writes an end with its evidence and remedies.
func writeEnd(w *writer, e *chainEnd) {
	s := w.style
	f := e.longest
	told := cmp.Or(e.endFinding, f)
	w.line()
	w.prose(s.paint(severityColours[f.Severity], s.namespacedName(told.Object))+": "+s.text(told.Message), 2)
	if len(f.Chain) > 1 {
		w.prose("  "+waitText(s, f.Chain), 4)
	}
	if len(e.waiting) > 1 {
		w.prose("  waiting for it: "+s.firstRefs(e.waiting, maxWaiting), 4)
	}
	for _, p := range told.Proof {
		w.prose("  "+s.pick("· ", "* ")+s.text(p.Message), 4)
	}
	for _, r := range f.Remedies {
		w.prose("  "+remedyEffect(s, r)+":", 4)
		w.command("    ", r)
	}
}

// remedyEffect returns the effect and the cost of a remedy.
func remedyEffect(s Style, r report.Remedy) string {
	text := s.text(r.Effect)
	if r.Cost != "" {
		text += s.pick(" — ", " - ") + "costs: " + s.text(r.Cost)
	}
	return text
}

// waitText returns the chain of objects that wait for one another.
func waitText(s Style, chain []report.WaitLink) string {
	links := object.Mapped(chain, func(l report.WaitLink) string { return s.name(l.Ref) })
	return strings.Join(links, s.pick(" → ", " -> "))
}

// stuckSummary counts the objects by their worst finding, and the nodes with blocked drains.
func stuckSummary(s Style, d *report.Diagnosis) string {
	text := deletionSummary(s, d)
	n := 0
	for i := range d.Findings {
		if isDrain(&d.Findings[i]) {
			n++
		}
	}
	if n == 0 {
		return text
	}
	return text + " " + s.paint(yellow, "No drain of "+report.Plural(n, "cordoned node")+" can complete.")
}

func isDrain(f *report.Finding) bool { return f.Code == string(reason.DrainBlocked) }

func deletionSummary(s Style, d *report.Diagnosis) string {
	worst := map[object.Ref]int{}
	for _, f := range bySeverity(d.Findings) {
		if isDrain(f) {
			continue
		}
		if _, known := worst[f.Object]; !known {
			worst[f.Object] = severityRank(f.Severity)
		}
	}
	n := map[int]int{}
	for _, rank := range worst {
		n[rank]++
	}
	stuck, perhaps, going := n[severityRank(reason.Error)], n[severityRank(reason.Warning)], n[severityRank(reason.Info)]
	switch {
	case len(worst) == 0 && !d.Complete:
		return "Nothing that could be read is being deleted."
	case len(worst) == 0:
		return "Nothing is being deleted."
	case stuck+perhaps == 0:
		return s.paint(blue, "Nothing is stuck:") + " " + report.Plural(going, "object") + pluralForm(going, " is being deleted and will finish by itself.", " are being deleted and will finish by themselves.")
	}
	var parts []string
	if stuck > 0 {
		parts = append(parts, s.paint(red, report.Plural(stuck, "object")+pluralForm(stuck, " is", " are")+" stuck in Terminating"))
	}
	switch {
	case perhaps > 0 && stuck > 0:
		parts = append(parts, s.paint(yellow, strconv.Itoa(perhaps)+" more may be stuck"))
	case perhaps > 0:
		parts = append(parts, s.paint(yellow, report.Plural(perhaps, "object")+" may be stuck in Terminating"))
	}
	if going > 0 {
		parts = append(parts, s.paint(blue, strconv.Itoa(going)+" more"+pluralForm(going, " will finish by itself", " will finish by themselves")))
	}
	return strings.Join(parts, "; ") + "."
}

// pluralForm returns the words for one or for many.
func pluralForm(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// stuckMissing returns the notes about missing input. The command to read it is omitted if a finding
// has one for the content of a namespace.
func stuckMissing(s Style, d *report.Diagnosis, known bool) []string {
	shown := func(f report.Finding) bool {
		return slices.ContainsFunc(f.Remedies, func(r report.Remedy) bool { return r.Action == report.ShowKinds && r.Target.Namespace != "" })
	}
	return missingInput{source: d.Source, complete: known, gaps: d.Gaps, commandShown: slices.ContainsFunc(d.Findings, shown)}.notes(s)
}
