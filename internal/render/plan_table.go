package render

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// maxTargets is the number of targets that the headline names.
const maxTargets = 3

// PlanTable prints a plan as text: the answer on one screen. Wide output has everything: counts,
// data, all effects, what was garbage before, and notes.
func PlanTable(out io.Writer, s Style, p *report.Plan) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	caused, before := splitBaseline(p)
	if s.Wide {
		w.allEffects(p, caused, before)
	} else {
		w.screen(p, withoutEvents(p, caused), withoutEvents(p, before))
	}
	return w.done()
}

// allEffects writes a row for each object.
func (w *writer) allEffects(p *report.Plan, caused, before []report.Effect) {
	s := w.style
	w.prose(planHeadline(s, p, caused), 2)
	if needsCounts(p, caused) {
		w.titled("", countTable(s, caused))
		w.titled(s.paint(bold, "Data")+dataTitle(caused), dataTable(s, dataRows(s, p, caused), caused))
	}
	w.titled("", effectTable(s, p, caused))
	if len(p.Broken) > 0 {
		w.line()
		w.breakages(p)
	}
	w.titled(s.paint(bold, "Outside of the cluster:"), outsideTable(s, p.Outside))
	w.titled("Garbage or already being deleted, regardless of this request:", effectTable(s, p, before))
	w.titled("The garbage collector repeats these requests without effect:", stuckTable(s, p.Stuck))
	w.finalizers(p)
	w.planNotes(p)
}

// splitBaseline separates the effects of the request from those that happen anyway. A collection
// requests what happens anyway, so nothing is separated there. Both lists are sorted by outcome.
func splitBaseline(p *report.Plan) (caused, before []report.Effect) {
	anyway := 0
	for i := range p.Effects {
		if p.IsUnrelated(&p.Effects[i]) {
			anyway++
		}
	}
	if anyway == 0 && slices.IsSortedFunc(p.Effects, compareOutcomes) {
		return p.Effects, nil // true for most large plans, which are not copied
	}
	caused, before = make([]report.Effect, 0, len(p.Effects)-anyway), make([]report.Effect, 0, anyway)
	for i := range p.Effects {
		if e := &p.Effects[i]; p.IsUnrelated(e) {
			before = append(before, *e)
		} else {
			caused = append(caused, *e)
		}
	}
	slices.SortStableFunc(caused, compareOutcomes)
	slices.SortStableFunc(before, compareOutcomes)
	return caused, before
}

func compareOutcomes(a, b report.Effect) int {
	if a.Outcome == b.Outcome {
		return 0
	}
	return outcomeRank(a.Outcome) - outcomeRank(b.Outcome)
}

// outcomeRank returns the rank of an outcome for sorting; blocked objects come first.
func outcomeRank(o report.Outcome) int {
	if o == report.Blocked {
		return -1
	}
	all := report.Outcomes()
	if i := slices.Index(all, o); i >= 0 {
		return i
	}
	return len(all)
}

func requestText(s Style, seed report.Seed) string {
	if seed.Uninstall != nil {
		return "delete helm/" + s.text(seed.Uninstall.Release)
	}
	targets := s.firstRefs(seed.Targets, maxTargets)
	switch seed.Verb {
	case "removeFinalizer":
		return "remove " + pluralForm(len(seed.Finalizers), "finalizer ", "finalizers ") + s.commaSeparated(seed.Finalizers) + " from " + targets
	case "collect":
		if targets == "" {
			return "collect garbage"
		}
	}
	return strings.TrimSpace(s.text(seed.Verb) + " " + targets)
}

func effectTable(s Style, p *report.Plan, effects []report.Effect) *table {
	t := &table{headers: []string{"OUTCOME", "NAMESPACE", "OBJECT", "WHY"}, inWidth: true}
	if len(effects) == 0 {
		return t
	}
	for _, e := range effects {
		outcome := s.text(string(e.Outcome))
		if e.DependsOnTiming {
			outcome += s.star()
		}
		t.add(outcomeColours[e.Outcome], outcome, s.text(e.Object.Namespace), s.name(e.Object), effectReason(s, e))
	}
	// One namespace is in the headline, unless the headline names another.
	_, several := namespaces(effects, func(e *report.Effect) object.Ref { return e.Object })
	named := len(p.Seed.Targets) > 0 && effects[0].Object.Namespace == p.Seed.Targets[0].Namespace
	if p.Seed.Uninstall != nil {
		named = effects[0].Object.Namespace == p.Seed.Uninstall.Namespace
	}
	t.dropUnless(several || !named, "NAMESPACE")
	return t
}

// effectReason returns the message of an effect; without one, the text of its reason code.
func effectReason(s Style, e report.Effect) string {
	if e.Message == "" {
		return reasonFromFields(s, e)
	}
	return s.text(e.Message) + undecidedController(s, e) + recreatedText(s, e)
}

// undecidedController adds that the state of the controller of an own finalizer is unknown, if that
// decides whether the object is deleted.
func undecidedController(s Style, e report.Effect) string {
	var own []report.Release
	for _, r := range e.UndecidedReleases() {
		if r.Object == e.Object {
			own = addFinalizer(own, r)
		}
	}
	if len(own) == 0 {
		return ""
	}
	return "; " + stateText(own)
}

// reasonFromFields returns the reason from the fields only.
func reasonFromFields(s Style, e report.Effect) string {
	if e.Outcome == report.Blocked && e.BlockedBy != nil {
		return blockedByText(s, *e.BlockedBy)
	}
	text := s.text(reason.Short(e.Reason))
	if len(e.Because) > 0 {
		text += " (" + s.firstRefs(e.Because, 2) + ")"
	}
	return text + recreatedText(s, e)
}

// recreatedText returns a warning if the object will be recreated, or may be.
func recreatedText(s Style, e report.Effect) string {
	note := recreatedNote(&e)
	if note == "" {
		return ""
	}
	text := "; " + note + ": created again"
	if e.Recreator != "" {
		text = "; " + note + ": " + s.text(e.Recreator) + " creates it again"
	}
	if e.RecreatedBy != nil {
		text += " for " + s.name(*e.RecreatedBy)
	}
	if e.RecreatedWhen != "" {
		text += " " + s.text(e.RecreatedWhen)
	}
	if e.RecreatedIf != "" {
		text += " if " + s.text(e.RecreatedIf)
	}
	return text
}

// recreatedNote says whether an object is created again; empty if that is not expected.
func recreatedNote(e *report.Effect) string {
	switch {
	case e.RecreatedBy == nil && e.Recreator == "":
		return ""
	case e.RecreatedIf != "":
		return "may come back"
	}
	return "comes back"
}

// blockedByText returns what blocks an object that is being deleted.
func blockedByText(s Style, by report.BlockedBy) string {
	var parts []string
	if n := len(by.Finalizers); n > 0 {
		parts = append(parts, strings.TrimPrefix(report.Plural(n, "finalizer"), "1 ")+" "+s.commaSeparated(by.Finalizers))
	}
	if n := len(by.Dependents); n > 0 {
		parts = append(parts, strings.TrimPrefix(report.Plural(n, "dependent"), "1 ")+" "+s.firstRefs(by.Dependents, 3))
	}
	if by.Node != "" {
		parts = append(parts, "the kubelet of node "+s.text(by.Node))
	}
	if len(parts) == 0 {
		return "held by something unknown"
	}
	return "held by " + strings.Join(parts, "; ")
}

// stuckText returns why an attempt of the garbage collector has no effect.
func stuckText(s Style, x *report.Stuck) string {
	if x.Message != "" {
		return s.text(x.Message)
	}
	return reasonFromFields(s, report.Effect{Reason: x.Reason, Because: x.Because})
}

func stuckTable(s Style, stuck []report.Stuck) *table {
	t := &table{headers: []string{"NAMESPACE", "OBJECT", "WHY"}}
	for _, x := range stuck {
		t.add("", s.text(x.Object.Namespace), s.name(x.Object), stuckText(s, &x))
	}
	dropCommonNamespace(t, stuck, func(x *report.Stuck) object.Ref { return x.Object })
	return t
}

// maxSteps is the number of steps that a table shows.
const maxSteps = 5000

// PlanSteps prints the requests of a plan in order, with the step that caused each one.
func PlanSteps(out io.Writer, s Style, p *report.Plan) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	caused, _ := splitBaseline(p)
	w.prose(planHeadline(s, p, caused), 2)
	if len(p.Steps) == 0 {
		w.line()
		w.line("No requests.")
	}
	shown := p.Steps[:min(len(p.Steps), maxSteps)]
	w.titled("", stepTable(s, shown))
	if left := len(p.Steps) - len(shown); left > 0 {
		w.line()
		w.prose(strconv.Itoa(left)+" more steps are not listed here: -o json has them all.", 2)
	}
	w.finalizers(p)
	w.planNotes(p)
	return w.done()
}

func stepTable(s Style, steps []report.Step) *table {
	t := &table{headers: []string{"N", "CAUSE", "ACTOR", "VERB", "NAMESPACE", "OBJECT", "POLICY", "UID", "PATCH", "REASON"}}
	policies := false
	for i := range steps {
		x := &steps[i]
		policies = policies || x.Policy != ""
		cause := ""
		if x.Cause != 0 {
			cause = s.pick("←", "<-") + strconv.Itoa(x.Cause)
		}
		t.add("",
			strconv.Itoa(x.N), cause, s.text(x.Actor), stepVerb(s, x), s.text(x.Object.Namespace), stepObject(s, x),
			s.text(x.Policy), s.text(string(x.Object.UID)), s.text(x.Patch), stepReason(s, x))
	}
	dropCommonNamespace(t, steps, func(x *report.Step) object.Ref { return x.Object })
	t.dropUnless(policies, "POLICY")
	t.dropUnless(s.Wide, "UID", "PATCH")
	return t
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
		return "all " + s.text(object.ShortKindName(x.Object.APIVersion, x.Object.Kind))
	}
	return s.name(x.Object)
}
