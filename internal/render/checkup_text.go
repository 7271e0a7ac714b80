package render

import (
	"bufio"
	"io"
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// manyFound is how many findings of one code are shown: of garbage there may be
// thousands.
const manyFound = 10

// CheckupText says whether a collector works, why, and what to do about it.
func CheckupText(out io.Writer, s Style, c *report.Checkup) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	w.prose(s.paint(checkupColour(c.Verdict), verdictWord(s, c.Verdict))+": "+verdictSentence(c.Verdict), 2)
	if len(c.Reasons) > 0 {
		w.line()
	}
	for _, r := range c.Reasons {
		label := s.text(r.Code)
		if r.Count > 0 {
			label += " (" + strconv.Itoa(r.Count) + ")"
		}
		w.prose("- "+label+": "+s.text(r.Message), 2)
	}
	if len(c.Findings) > 0 {
		w.line()
		t, left := checkupTable(s, c.Findings)
		w.table(t)
		for _, text := range left {
			w.prose(text, 2)
		}
	}
	writeNotes(w, checkupNotes(s, c))
	return w.done()
}

func verdictWord(s Style, v report.CollectorVerdict) string { return s.text(string(v)) }

func verdictSentence(v report.CollectorVerdict) string {
	switch v {
	case report.CollectorWorking:
		return "the garbage collector of this cluster works."
	case report.CollectorNotWorking:
		return "the garbage collector of this cluster does not work, or not for everything."
	case report.CollectorNoProblemFound:
		return "no problem found with the garbage collector. That is not proof that it works."
	case report.CollectorUnknown:
	}
	return "cannot tell from this data whether the garbage collector works."
}

func checkupColour(v report.CollectorVerdict) string {
	switch v {
	case report.CollectorWorking, report.CollectorNoProblemFound:
		return green
	case report.CollectorNotWorking:
		return red
	case report.CollectorUnknown:
		return magenta
	}
	return ""
}

// checkupTable shows the gravest findings first, and of each code the first few; what it
// leaves out is said below.
func checkupTable(s Style, findings []report.Finding) (t *table, left []string) {
	sorted := slices.Clone(findings)
	slices.SortStableFunc(sorted, func(a, b report.Finding) int { return severityRank(a.Severity) - severityRank(b.Severity) })
	t = &table{headers: []string{"SEVERITY", "CODE", "NAMESPACE", "OBJECT", "MESSAGE"}}
	var order []string
	counts := map[string]int{}
	for i := range sorted {
		f := &sorted[i]
		if counts[f.Code]++; counts[f.Code] == 1 {
			order = append(order, f.Code)
		}
		if counts[f.Code] > manyFound && !s.Wide {
			continue
		}
		message := f.Message
		if f.Evidence != "" {
			message += " (" + f.Evidence + ")"
		}
		t.add(severityColour(f.Severity), s.text(string(f.Severity)), s.text(f.Code), s.text(f.Object.Namespace), subjectName(s, f.Object), s.text(message))
	}
	for _, code := range order {
		if more := counts[code] - manyFound; more > 0 && !s.Wide {
			left = append(left, "and "+strconv.Itoa(more)+" more "+s.text(code)+"; see -o wide.")
		}
	}
	return t, left
}

// subjectName is an object, or a kind where a finding is about all of them.
func subjectName(s Style, r report.Ref) string {
	if r.Name == "" && r.UID == "" {
		return s.text(report.ShortKindName(r.APIVersion, r.Kind))
	}
	return s.name(r)
}

// checkupNotes says what to do, what the graph had to say, and what was not seen.
func checkupNotes(s Style, c *report.Checkup) []string {
	var notes []string
	told := map[string]bool{}
	for _, f := range c.Findings {
		if f.Remedy != "" && !told[f.Code] {
			told[f.Code] = true
			notes = append(notes, s.text(f.Code)+s.pick(" → ", " -> ")+s.text(f.Remedy)+".")
		}
	}
	slices.Sort(notes)
	if g := c.Graph; g != nil {
		text := "Graph: " + plural(g.Nodes, "node") + " and " + plural(g.Edges, "edge") + " from " + s.text(g.From) +
			", " + plural(g.Compared, "object") + " compared, "
		if g.Different == 0 {
			text += "no difference."
		} else {
			text += plural(g.Different, "difference") + "."
		}
		notes = append(notes, text)
	}
	if c.EarlierTakenAt != "" {
		notes = append(notes, "Compared with the dump of "+s.text(c.EarlierTakenAt)+".")
	}
	return append(notes, completeness(s, c.Source, c.Complete, c.Gaps)...)
}
