package render

import (
	"bufio"
	"io"
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// CheckupText prints whether the garbage collector works, then the problems with advice. Wide
// output has all evidence.
func CheckupText(out io.Writer, s Style, c *report.Checkup) error {
	s = s.screen()
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	headline := s.paint(checkupColour(c.Verdict), checkupVerdict(c))
	w.prose(headline, 2)
	notes := checkupNotes(s, c)
	switch {
	case s.Wide:
		checkupDetails(w, c)
	case slices.ContainsFunc(c.Findings, isProblem):
		w.line()
		list := checkupBlocks(s, c)
		if left := w.blocks(list, screenLines-s.height(headline)-s.height(notes...)-3); left > 0 {
			w.prose(moreText(left, "problem"), 2)
		}
	}
	writeNotes(w, notes)
	return w.done()
}

// isProblem reports whether a finding is more than a remark.
func isProblem(f report.Finding) bool { return f.Severity != reason.Info }

// checkupBlocks returns the problems by code, ordered by severity: title, objects and advice.
func checkupBlocks(s Style, c *report.Checkup) []block {
	problems := slices.DeleteFunc(slices.Clone(c.Findings), func(f report.Finding) bool { return !isProblem(f) })
	var list []block
	for _, found := range byCode(problems) {
		title, ok := checkupTitles[reason.Code(found.code)]
		if !ok {
			title = s.text(found.code)
		}
		where := s.crowd(found.objects, s.limit()-severityColumn)
		if found.message != "" {
			where += ": " + s.text(found.message)
			if found.evidence != "" {
				where += " (" + s.text(found.evidence) + ")"
			}
		}
		b := block{severity: found.severity, lines: []string{title, where}, brief: title + " (" + s.brief(found.objects) + ")"}
		if found.remedy != "" {
			b.lines = append(b.lines, sentenceCase(s.text(found.remedy))+".")
		}
		list = append(list, b)
	}
	return list
}

// checkupDetails writes the evidence of the verdict and every finding.
func checkupDetails(w *writer, c *report.Checkup) {
	s := w.style
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
		w.table(checkupTable(s, c.Findings))
	}
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

// checkupTable lists the findings by severity.
func checkupTable(s Style, findings []report.Finding) *table {
	sorted := slices.Clone(findings)
	slices.SortStableFunc(sorted, func(a, b report.Finding) int { return severityRank(a.Severity) - severityRank(b.Severity) })
	t := &table{headers: []string{"SEVERITY", "CODE", "NAMESPACE", "OBJECT", "MESSAGE"}}
	for i := range sorted {
		f := &sorted[i]
		message := f.Message
		if f.Evidence != "" {
			message += " (" + f.Evidence + ")"
		}
		t.add(severityColour(f.Severity), s.text(string(f.Severity)), s.text(f.Code), s.text(f.Object.Namespace), subjectName(s, f.Object), s.text(message))
	}
	return t
}

// subjectName returns an object, or a kind if the finding is about all its objects.
func subjectName(s Style, r report.Ref) string {
	if r.Name == "" && r.UID == "" {
		return s.text(report.ShortKindName(r.APIVersion, r.Kind))
	}
	return s.name(r)
}

// subjectPlace is subjectName with the namespace.
func subjectPlace(s Style, r report.Ref) string {
	if r.Name == "" && r.UID == "" {
		return subjectName(s, r)
	}
	return s.place(r)
}

// checkupNotes returns the notes about passed checks and gaps, and in wide output the remedies.
func checkupNotes(s Style, c *report.Checkup) []string {
	var notes []string
	told := map[string]bool{}
	for _, f := range c.Findings {
		if s.Wide && f.Remedy != "" && !told[f.Code] {
			told[f.Code] = true
			notes = append(notes, s.text(f.Code)+s.pick(" → ", " -> ")+s.text(f.Remedy)+".")
		}
	}
	slices.Sort(notes)
	if text := passedText(s, c); text != "" {
		notes = append(notes, text)
	}
	if remarks := c.Summary.Infos; remarks > 0 && !s.Wide {
		notes = append(notes, plural(remarks, "remark")+": -o wide")
	}
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
