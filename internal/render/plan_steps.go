package render

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// manySteps is the number of steps that a table shows.
const manySteps = 5000

// PlanSteps prints the requests of a plan in order, with the step that caused each one.
func PlanSteps(out io.Writer, s Style, p *report.Plan) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	caused, _ := splitBaseline(p)
	w.prose(planHeadline(s, p, caused), 2)
	if len(p.Steps) == 0 {
		w.line()
		w.line("No requests.")
	} else {
		shown := p.Steps[:min(len(p.Steps), manySteps)]
		w.line()
		w.table(stepTable(s, shown))
		if left := len(p.Steps) - len(shown); left > 0 {
			w.line()
			w.prose(strconv.Itoa(left)+" more steps are not listed here: -o json has them all.", 2)
		}
	}
	w.finalizers(p)
	writeNotes(w, planNotes(w.style, p))
	return w.done()
}

func stepTable(s Style, steps []report.Step) *table {
	_, several := namespaces(steps, func(x *report.Step) report.Ref { return x.Object })
	policies := false
	for i := range steps {
		policies = policies || steps[i].Policy != ""
	}
	t := &table{headers: stepRow(several, policies, s.Wide,
		"N", "CAUSE", "ACTOR", "VERB", "NAMESPACE", "OBJECT", "POLICY", "UID", "PATCH", "REASON")}
	for i := range steps {
		x := &steps[i]
		cause := ""
		if x.Cause != 0 {
			cause = s.pick("←", "<-") + strconv.Itoa(x.Cause)
		}
		t.add("", stepRow(several, policies, s.Wide,
			strconv.Itoa(x.N), cause, s.text(x.Actor), stepVerb(s, x), s.text(x.Object.Namespace), stepObject(s, x),
			s.text(x.Policy), s.text(string(x.Object.UID)), s.text(x.Patch), stepReason(s, x))...)
	}
	return t
}

// stepRow leaves out columns without content.
func stepRow(several, policies, wide bool, n, cause, actor, verb, namespace, object, policy, uid, patch, reason string) []string {
	row := append(make([]string, 0, 10), n, cause, actor, verb)
	if several {
		row = append(row, namespace)
	}
	row = append(row, object)
	if policies {
		row = append(row, policy)
	}
	if wide {
		row = append(row, uid, patch)
	}
	return append(row, reason)
}

// stepVerb returns the verb, with the status of a failed request.
func stepVerb(s Style, x *report.Step) string {
	if x.Answer == 0 {
		return s.text(x.Verb)
	}
	return s.text(x.Verb) + s.pick(" → ", " -> ") + strconv.Itoa(x.Answer)
}

func stepReason(s Style, x *report.Step) string {
	reason := s.text(x.Reason)
	if x.Waits == "" {
		return reason
	}
	return strings.TrimPrefix(reason+"; waits for "+s.text(x.Waits), "; ")
}

// stepObject returns the object of a step, or all of a kind.
func stepObject(s Style, x *report.Step) string {
	if x.Verb == "DELETECOLLECTION" {
		return "all " + s.text(report.ShortKindName(x.Object.APIVersion, x.Object.Kind))
	}
	return s.name(x.Object)
}
