package render

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// DiagnosisTable prints the findings about a snapshot by severity: a block for each cause, or in
// wide output a row for each finding.
func DiagnosisTable(out io.Writer, s Style, d *report.Diagnosis) error {
	s = s.screen()
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	notes := completeness(s, d.Source, d.Complete, d.Gaps)
	causes := causesOf(d.Findings)
	headline := findingSummary(s, d, len(causes))
	w.prose(headline, 2)
	switch {
	case len(causes) == 0:
	case s.Wide:
		w.line()
		w.table(findingTable(s, d.Findings))
	default:
		w.line()
		list := make([]block, len(causes))
		for i := range causes {
			list[i] = causeBlock(s, &causes[i])
		}
		next := nextText(s, &causes[0])
		if left := w.blocks(list, screenLines-s.height(headline)-s.height(notes...)-strings.Count(next, "\n")-3); left > 0 {
			w.prose(moreText(left, "cause"), 2)
		}
		w.WriteString(next)
	}
	writeNotes(w, notes)
	return w.done()
}

// nextText returns the command that explains the first error. It is empty if the line would be too
// long to paste.
func nextText(s Style, c *cause) string {
	if c.severity != reason.Error {
		return ""
	}
	text := "Next: " + s.text(report.Act{Action: report.Explain, Target: c.objects[0]}.CommandLine())
	if s.limit() > 0 && width(text) > s.limit() {
		return ""
	}
	return "\n" + text + "\n"
}

func findingTable(s Style, findings []report.Finding) *table {
	_, several := namespaces(findings, func(f *report.Finding) report.Ref { return f.Object })
	if !several && findings[0].Object.Namespace != "" {
		several = true
	}
	references := slices.ContainsFunc(findings, func(f report.Finding) bool { return f.Reference != nil })
	sorted := slices.Clone(findings)
	slices.SortStableFunc(sorted, func(a, b report.Finding) int { return severityRank(a.Severity) - severityRank(b.Severity) })
	t := &table{headers: findingRow(several, references, s.Wide,
		"SEVERITY", "CODE", "NAMESPACE", "OBJECT", "REFERENCE", "UID", "EVIDENCE", "REMEDY", "MESSAGE")}
	for i := range sorted {
		f := &sorted[i]
		reference := ""
		if f.Reference != nil {
			reference = s.name(*f.Reference)
		}
		message := s.text(f.Message)
		if f.Remedy != "" && !s.Wide {
			message = strings.TrimLeft(message+s.pick(" → ", " -> ")+s.text(f.Remedy), " ")
		}
		t.add(severityColour(f.Severity), findingRow(several, references, s.Wide,
			s.text(string(f.Severity)), s.text(f.Code), s.text(f.Object.Namespace), s.name(f.Object), reference,
			s.text(string(f.Object.UID)), s.text(f.Evidence), s.text(f.Remedy), message)...)
	}
	return t
}

// findingRow leaves out columns without content.
func findingRow(several, references, wide bool, severity, code, namespace, object, reference, uid, evidence, remedy, message string) []string {
	row := append(make([]string, 0, 9), severity, code)
	if several {
		row = append(row, namespace)
	}
	row = append(row, object)
	if references {
		row = append(row, reference)
	}
	if wide {
		row = append(row, uid, evidence, remedy)
	}
	return append(row, message)
}

// severityRank returns the rank for sorting, the most severe first and unknown ones last.
func severityRank(v reason.Severity) int {
	order := []reason.Severity{reason.Error, reason.Warning, reason.Info}
	if i := slices.Index(order, v); i >= 0 {
		return i
	}
	return len(order)
}

// findingSummary counts the findings and causes.
func findingSummary(s Style, d *report.Diagnosis, causes int) string {
	n := d.Summary
	var parts []string
	for _, c := range []struct {
		severity reason.Severity
		n        int
	}{{reason.Error, n.Errors}, {reason.Warning, n.Warnings}, {reason.Info, n.Infos}} {
		if c.n > 0 {
			noun := string(c.severity)
			if c.severity == reason.Info {
				noun = "remark"
			}
			parts = append(parts, s.paint(severityColour(c.severity), plural(c.n, noun)))
		}
	}
	looked := plural(n.References, "owner reference") + " of " + plural(n.Objects, "object")
	if len(parts) == 0 && len(d.Findings) == 0 {
		return "Nothing found in " + looked
	}
	if len(parts) == 0 {
		parts = []string{plural(len(d.Findings), "finding")}
	}
	text := enumerate(parts, len(parts)) + " in " + looked
	if causes > 0 && causes < len(d.Findings) {
		text += ": " + plural(causes, "cause")
	}
	return text
}
