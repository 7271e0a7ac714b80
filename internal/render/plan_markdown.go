package render

import (
	"io"
	"slices"
	"strconv"

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
		m.paragraph("**Refused**, so that nothing would be written:")
		m.table(refusalTable(s, p.Refusals))
	}
	if len(caused) > 1 {
		m.table(countTable(s, caused))
	}
	m.data(p, caused)
	m.effects(plural(len(caused), "object")+", and why", p, caused)
	m.effects(plural(len(before), "object")+" without this request: garbage, or being deleted already", p, before)
	if len(p.Stuck) > 0 {
		m.details(plural(len(p.Stuck), "attempt")+" of the garbage collector without effect, again and again", func() { m.table(stuckTable(s, p.Stuck)) })
	}
	m.list(planNotes(s, p))
	return m.done()
}

// planWarnings returns what must not be overlooked.
func planWarnings(s Style, p *report.Plan, caused []report.Effect) []string {
	var blocked, held, unknown, contested, back []report.Ref
	var once []report.Release
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
			blocked = append(blocked, e.Object)
		case report.Unknown:
			unknown = append(unknown, e.Object)
		default:
		}
		if e.DependsOnTiming {
			contested = append(contested, e.Object)
		}
		if e.RecreatedBy != nil || e.Recreator != "" {
			back = append(back, e.Object)
		}
	}
	var points []string
	for _, w := range []struct {
		refs []report.Ref
		text string
	}{
		{blocked, "**Gets stuck:** "}, {held, laterWarning(s, p, once)}, {unknown, "**Not known what becomes of:** "},
		{contested, "**Depends on timing:** "}, {back, "**Comes back:** "},
	} {
		if len(w.refs) > 0 {
			points = append(points, w.text+s.some(w.refs, manyTargets))
		}
	}
	for _, f := range p.Finalizers {
		points = append(points, "**Finalizer** "+s.object(f.Name)+" ("+s.text(lower(f.Class))+", on "+plural(f.Objects, "object")+"): "+keeper(s, f)+".")
	}
	return points
}

// laterWarning starts the list of objects that are deleted only if finalizers are removed
// unexpectedly.
func laterWarning(s Style, p *report.Plan, once []report.Release) string {
	if len(once) == 0 && slices.ContainsFunc(p.Effects, func(e report.Effect) bool { return e.Reason == string(reason.PolicyDenies) }) {
		return "**Deleted once the admission policy allows it:** "
	}
	if len(once) == 0 {
		return "**Deleted once what does not answer works again:** "
	}
	return "**Goes when " + finalizerNames(s, once) + " is removed** (" + stateText(once) + ")**:** "
}

// data writes a table of the data that is or may be deleted.
func (m *markdown) data(p *report.Plan, caused []report.Effect) {
	rows := dataRows(m.style, p, caused)
	if len(rows) == 0 {
		return
	}
	_, several := namespaces(caused, func(e *report.Effect) report.Ref { return e.Object })
	t := &table{headers: dataRow{"OUTCOME", "NAMESPACE", "DATA", "DETAIL"}.cells(several)}
	shown := rows
	if !m.style.Wide {
		shown = rows[:min(len(rows), manyDataRows)]
	}
	for _, r := range shown {
		t.add("", r.cells(several)...)
	}
	m.paragraph("**Data**" + dataTitle(caused))
	m.table(t)
	if left := len(rows) - len(shown); left > 0 {
		m.paragraph("and " + plural(left, "more line") + " of data")
	}
}

// effects writes a folded table of effects, up to manyRows for each outcome.
func (m *markdown) effects(summary string, p *report.Plan, effects []report.Effect) {
	if len(effects) == 0 {
		return
	}
	shown, left := effects, 0
	if !m.style.Wide {
		shown, left = firstOfEach(effects, manyRows)
	}
	m.details(summary, func() {
		m.table(effectTable(m.style, p, shown))
		if left > 0 {
			m.paragraph(strconv.Itoa(left) + " more are not listed here.")
		}
	})
}

// manyRows is the number of effects of one outcome that a document shows.
const manyRows = 100

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
