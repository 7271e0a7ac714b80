package render

import (
	"io"
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// ExplanationMarkdown prints an explanation for a pull request or an issue: the verdict, the owners
// and finalizers, and the remedies. The whole text is folded.
func ExplanationMarkdown(out io.Writer, style Style, e *report.Explanation) error {
	m := newMarkdown(out, style)
	s := m.style
	m.heading(s.place(e.Object) + " " + verdictPhrase(s, e.Verdict))
	if e.Message != "" {
		m.paragraph(sentenceCase(s.text(e.Message)))
	}
	var points []string
	if e.Reason != "" {
		points = append(points, "**Rule:** "+ruleText(s, e))
	}
	if e.Next != "" {
		points = append(points, "**Next:** the garbage collector sends "+s.text(e.Next))
	}
	if e.Deadlock != nil {
		points = append(points, "**Deadlock:** "+s.text(e.Deadlock.Message))
	}
	m.list(points)
	owners := &table{headers: []string{"OWNER", "CLASS", "EVIDENCE"}}
	for _, o := range e.Owners {
		owners.add("", s.name(o.Ref), s.text(string(o.Class)), s.text(o.Evidence))
	}
	m.table(owners)
	finalizers := &table{headers: []string{"FINALIZER", "STATE", "REMOVED BY"}}
	for _, f := range e.Finalizers {
		by := s.text(f.RemovedBy)
		if by == "" {
			by = "not known"
		}
		finalizers.add("", s.object(f.Name), s.text(f.State), by)
	}
	m.table(finalizers)
	m.remedies(e.Remedies)
	m.text("The whole explanation", func(w io.Writer, plain Style) error { return ExplanationText(w, plain, e) })
	m.list(explanationUnseen(s, e))
	return m.done()
}

// remedies lists commands with their effects.
func (m *markdown) remedies(list []report.Remedy) {
	if len(list) == 0 {
		return
	}
	m.paragraph("What would change it:")
	points := make([]string, len(list))
	for i, r := range list {
		points[i] = m.style.object(r.Command)
		if text := effectText(m.style, r); text != "" {
			points[i] += ": " + text
		}
	}
	m.list(points)
}

// DiagnosisMarkdown prints the findings about a snapshot for a pull request.
func DiagnosisMarkdown(out io.Writer, style Style, d *report.Diagnosis) error {
	m := newMarkdown(out, style)
	m.heading(findingSummary(m.style, d, 0))
	if len(d.Findings) > 0 {
		shown := d.Findings
		if !m.style.Wide {
			shown = gravest(d.Findings, manyRows)
		}
		m.table(findingTable(m.style, shown))
		if left := len(d.Findings) - len(shown); left > 0 {
			m.paragraph("and " + strconv.Itoa(left) + " more")
		}
	}
	m.list(completeness(m.style, d.Source, d.Complete, d.Gaps))
	return m.done()
}

// gravest returns the most severe findings.
func gravest(findings []report.Finding, most int) []report.Finding {
	sorted := slices.Clone(findings)
	slices.SortStableFunc(sorted, func(a, b report.Finding) int { return severityRank(a.Severity) - severityRank(b.Severity) })
	return sorted[:min(len(sorted), most)]
}

// StuckMarkdown prints blocked deletions for an issue.
func StuckMarkdown(out io.Writer, style Style, d *report.Diagnosis) error {
	m := newMarkdown(out, style)
	m.heading(stuckSummary(m.style, d))
	if len(d.Findings) > 0 {
		t, left := waitingTable(m.style, d.Findings)
		m.table(t)
		if left > 0 {
			m.paragraph("and " + strconv.Itoa(left) + " more of the same kinds")
		}
		m.text("What was seen, and what would free them", func(w io.Writer, plain Style) error { return StuckText(w, plain, d) })
	}
	m.list(completeness(m.style, d.Source, d.Complete, d.Gaps))
	return m.done()
}

// RiskMarkdown prints the effects of single deletes.
func RiskMarkdown(out io.Writer, style Style, r *report.Risk) error {
	m := newMarkdown(out, style)
	s := m.style
	if len(r.Items) == 0 {
		m.heading("No delete of one object is known to take another, of " + plural(r.Objects, "object"))
	} else {
		m.heading("What a " + s.text(lower(r.Policy)) + " delete of one object takes, itself included")
		m.table(riskTable(s, r.Items))
		m.paragraph("The first " + strconv.Itoa(len(r.Items)) + " of " + plural(r.Objects, "object") + ".")
	}
	var points []string
	if r.Untried > 0 {
		points = append(points, "**Not tried:** "+plural(r.Untried, "object")+" whose delete may take more than the last of these.")
	}
	seen := r.Complete || r.Untried > 0 && len(r.Gaps) == 0
	m.list(append(points, missing{source: r.Source, complete: seen, gaps: r.Gaps, means: "Each may take more:"}.notes(s)...))
	return m.done()
}
