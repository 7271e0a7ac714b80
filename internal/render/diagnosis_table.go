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

// DiagnosisTable lists the findings over a snapshot, the gravest first, and
// counts them.
func DiagnosisTable(out io.Writer, s Style, d *report.Diagnosis) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	if len(d.Findings) > 0 {
		w.table(findingTable(s, d.Findings))
		w.line()
	}
	w.prose(findingSummary(s, d), 2)
	writeNotes(w, completeness(s, d.Source, d.Complete, d.Gaps))
	return w.done()
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

// findingRow leaves out the columns that say nothing.
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

// severityRank puts the gravest first and what is not known last.
func severityRank(v reason.Severity) int {
	order := []reason.Severity{reason.Error, reason.Warning, reason.Info}
	if i := slices.Index(order, v); i >= 0 {
		return i
	}
	return len(order)
}

func findingSummary(s Style, d *report.Diagnosis) string {
	n := d.Summary
	looked := " in " + plural(n.Objects, "object") + " with " + plural(n.References, "owner reference") + "."
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
	if len(parts) == 0 {
		if len(d.Findings) > 0 {
			return strconv.Itoa(len(d.Findings)) + " findings" + looked
		}
		return "Nothing found" + looked
	}
	return enumerate(parts, len(parts)) + looked
}
