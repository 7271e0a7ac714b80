package render

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// PlanMarkdown prints a plan for a pull request: headline, warnings, data, and folded every object
// with its reason.
func PlanMarkdown(out io.Writer, style Style, p *report.Plan) error {
	m := newMarkdown(out, style)
	s := m.style
	caused, before := splitBaseline(p)
	caused, before = withoutEvents(p, caused), withoutEvents(p, before)
	m.heading(planHeadline(s, p, caused))
	m.list(planWarnings(s, p, caused))
	if len(p.Refusals) > 0 {
		m.paragraph("**Refused**; nothing would be written:")
		m.table(refusalTable(s, p.Refusals))
	}
	if len(caused) > 1 {
		m.table(countTable(s, caused))
	}
	m.data(p, caused)
	if broken := breakageTexts(s, p); len(broken) > 0 {
		m.paragraph("**Breaks**, and stays:")
		m.list(broken)
	}
	if len(p.Outside) > 0 {
		m.paragraph("**Outside of the cluster:**")
		m.table(outsideTable(s, p.Outside))
	}
	m.effects(report.Plural(len(caused), "object")+", and why", p, caused)
	m.effects(report.Plural(len(before), "object")+" regardless of this request: garbage, or already being deleted", p, before)
	if len(p.Stuck) > 0 {
		m.details(report.Plural(len(p.Stuck), "attempt")+" that the garbage collector repeats without effect", func() { m.table(stuckTable(s, p.Stuck)) })
	}
	m.list(planNotes(s, p))
	m.remedies(p.Remedies)
	return m.done()
}

// planWarnings returns what must not be overlooked.
func planWarnings(s Style, p *report.Plan, caused []report.Effect) []string {
	var blocked, mayHang, held, unknown, contested, back, mayBeBack []object.Ref
	var once []report.Release
	open := p.MayHang()
	for i := range caused {
		e := &caused[i]
		if e.Later == report.Deleted && e.Outcome != report.Blocked {
			held = append(held, e.Object)
			for _, r := range e.Once {
				if r.State != report.ControllerRuns {
					once = addFinalizer(once, r)
				}
			}
		}
		switch e.Outcome {
		case report.Blocked:
			if open[e.Object] != nil {
				mayHang = append(mayHang, e.Object)
			} else {
				blocked = append(blocked, e.Object)
			}
		case report.Unknown:
			unknown = append(unknown, e.Object)
		default:
		}
		if e.DependsOnTiming {
			contested = append(contested, e.Object)
		}
		switch {
		case recreatedNote(e) == "":
		case e.RecreatedIf != "":
			mayBeBack = append(mayBeBack, e.Object)
		default:
			back = append(back, e.Object)
		}
	}
	var points []string
	for _, w := range []struct {
		refs []object.Ref
		text string
	}{
		{blocked, "**Gets stuck:** "}, {mayHang, "**May get stuck:** "}, {held, laterWarning(s, p, once)}, {unknown, "**Unknown outcome:** "},
		{contested, "**Depends on timing:** "}, {back, "**Comes back:** "}, {mayBeBack, "**May come back:** "},
	} {
		if len(w.refs) > 0 {
			points = append(points, w.text+s.firstRefs(w.refs, maxTargets))
		}
	}
	for _, f := range p.Finalizers {
		points = append(points, "**Finalizer** "+s.objectName(f.Name)+" ("+s.text(lower(f.Class))+", on "+report.Plural(f.Objects, "object")+"): "+finalizerPurpose(s, f)+".")
	}
	return points
}

// laterWarning starts the list of objects that are deleted only if finalizers are removed
// unexpectedly.
func laterWarning(s Style, p *report.Plan, once []report.Release) string {
	if len(once) == 0 && slices.ContainsFunc(p.Effects, func(e report.Effect) bool { return e.Reason == string(reason.PolicyDenies) }) {
		return "**Deleted once the admission policy allows it:** "
	}
	if len(once) == 0 && slices.ContainsFunc(p.Effects, func(e report.Effect) bool {
		return e.Outcome == report.Blocked && e.Reason == string(reason.FinalizerRemains)
	}) {
		return "**Deleted later:** "
	}
	if len(once) == 0 {
		return "**Deleted once the unreachable API recovers:** "
	}
	return "**Deleted when " + finalizerNames(s, once) + " is removed** (" + stateText(once) + ")**:** "
}

// data writes a table of the data that is or may be deleted.
func (m *markdown) data(p *report.Plan, caused []report.Effect) {
	rows := dataRows(m.style, p, caused)
	if len(rows) == 0 {
		return
	}
	t := dataTable(m.style, rows, caused)
	m.paragraph("**Data**" + dataTitle(caused))
	m.table(t)
	if left := len(rows) - len(t.rows); left > 0 {
		m.paragraph("and " + report.Plural(left, "more line") + " of data")
	}
}

// effects writes a folded table of effects, up to maxMarkdownRows for each outcome.
func (m *markdown) effects(summary string, p *report.Plan, effects []report.Effect) {
	if len(effects) == 0 {
		return
	}
	shown, left := effects, 0
	if !m.style.Wide {
		shown, left = firstOfEach(effects, maxMarkdownRows)
	}
	m.details(summary, func() {
		m.table(effectTable(m.style, p, shown))
		if left > 0 {
			m.paragraph(strconv.Itoa(left) + " more are not listed here.")
		}
	})
}

// maxMarkdownRows is the number of effects of one outcome that a document shows.
const maxMarkdownRows = 100

// firstOfEach returns the first most effects of each outcome. Effects must be sorted by outcome.
func firstOfEach(effects []report.Effect, most int) (shown []report.Effect, left int) {
	run := 0
	for i, e := range effects {
		if i > 0 && effects[i-1].Outcome != e.Outcome {
			run = 0
		}
		run++
		if run <= most {
			shown = append(shown, e)
		}
	}
	return shown, len(effects) - len(shown)
}

// ExplanationMarkdown prints an explanation for a pull request or an issue: the verdict, the owners
// and finalizers, and the remedies. The whole text is folded.
func ExplanationMarkdown(out io.Writer, style Style, e *report.Explanation) error {
	m := newMarkdown(out, style)
	s := m.style
	m.heading(s.namespacedName(e.Object) + " " + verdictPhrase(s, e.Verdict))
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
		finalizers.add("", s.objectName(f.Name), s.text(f.State), cmp.Or(s.text(f.RemovedBy), "unknown"))
	}
	m.table(finalizers)
	m.remedies(e.Remedies)
	m.text("The whole explanation", func(w io.Writer, plain Style) error { return ExplanationText(w, plain, e) })
	m.list(explanationMissing(s, e))
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
		points[i] = m.style.objectName(r.Command)
		if text := remedyEffect(m.style, r); text != "" {
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
		shown := slices.Clone(d.Findings)
		slices.SortStableFunc(shown, func(a, b report.Finding) int { return severityRank(a.Severity) - severityRank(b.Severity) })
		if !m.style.Wide {
			shown = shown[:min(len(shown), maxMarkdownRows)]
		}
		m.table(findingTable(m.style, shown))
		if left := len(d.Findings) - len(shown); left > 0 {
			m.paragraph("and " + strconv.Itoa(left) + " more")
		}
	}
	m.list(completeness(m.style, d.Source, d.Complete, d.Gaps))
	return m.done()
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
		m.text("Evidence, and what would unblock them", func(w io.Writer, plain Style) error { return StuckText(w, plain, d) })
	}
	m.list(completeness(m.style, d.Source, d.Complete, d.Gaps))
	return m.done()
}

// RiskMarkdown prints the effects of single deletes.
func RiskMarkdown(out io.Writer, style Style, r *report.Risk) error {
	m := newMarkdown(out, style)
	s := m.style
	if len(r.Items) == 0 {
		m.heading("None of " + report.Plural(r.Objects, "object") + " is known to take another with it when deleted")
	} else {
		m.heading("What a " + s.text(lower(r.Policy)) + " delete of one object takes, itself included")
		m.table(riskTable(s, r.Items))
		m.paragraph("The first " + strconv.Itoa(len(r.Items)) + " of " + report.Plural(r.Objects, "object") + ".")
	}
	var points []string
	if r.Untried > 0 {
		points = append(points, "**Not tried:** "+report.Plural(r.Untried, "object")+" whose delete may take more than the last of these.")
	}
	seen := r.Complete || r.Untried > 0 && len(r.Gaps) == 0
	m.list(append(points, missingInput{source: r.Source, complete: seen, gaps: r.Gaps, ifIncomplete: "Each may take more:"}.notes(s)...))
	return m.done()
}
