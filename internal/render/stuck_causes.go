package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// stuckCause is one cause that blocks deletions, with all objects that it blocks.
type stuckCause struct {
	// main is the finding with the best words and proofs. remedied is the one with the commands: it
	// has the longest chain to the same end.
	main, remedied *report.Finding
	findings       []*report.Finding
	// held are the blocked objects at the end of the chains, as far as findings name them. waiting
	// are the objects that wait for them.
	held, waiting []object.Ref
	isHeld, waits map[object.Ref]bool
	unnamed       int
	// isExplained reports that the only held object is the explained one, which was named before.
	isExplained bool
}

// stuckCauseKey is the common key of the findings of one cause.
type stuckCauseKey struct{ code, finalizer, verdict, apiVersion, kind, what string }

// stuckCausesOf groups findings by cause, ordered by severity.
func stuckCausesOf(findings []report.Finding) []*stuckCause {
	var list []*stuckCause
	found := map[stuckCauseKey]*stuckCause{}
	for _, f := range bySeverity(findings) {
		k := stuckCauseKeyOf(f)
		c := found[k]
		if c == nil {
			c = &stuckCause{main: f, remedied: f, isHeld: map[object.Ref]bool{}, waits: map[object.Ref]bool{}}
			found[k] = c
			list = append(list, c)
		}
		c.add(f)
	}
	for _, c := range list {
		c.waiting = slices.DeleteFunc(c.waiting, func(r object.Ref) bool { return c.isHeld[r] })
	}
	return list
}

func stuckCauseKeyOf(f *report.Finding) stuckCauseKey {
	held := heldObject(f)
	k := stuckCauseKey{code: f.Code, finalizer: f.Finalizer, verdict: string(f.Verdict), apiVersion: held.APIVersion, kind: held.Kind}
	switch reason.Code(f.Code) {
	case reason.UnderWay, reason.GracePeriod, reason.FinalizerControllerAlive:
		k.apiVersion, k.kind = "", "" // a count is enough for causes that end by themselves
	case reason.StillInUse, reason.LiveDependentBlocks, reason.EndNotSeen, reason.WaitingCycle, reason.OrphaningStuck:
	case reason.WebhookUnreachable, reason.PolicyDenies, reason.PolicyUnknown, reason.APIServiceUnavailable:
		k.apiVersion, k.kind, k.what = "", "", lastLink(f).Name
	default:
		k.what = whyHeld(f)
	}
	return k
}

func (c *stuckCause) add(f *report.Finding) {
	c.findings = append(c.findings, f)
	held := heldObject(f)
	if !c.isHeld[held] {
		c.isHeld[held] = true
		c.held = append(c.held, held)
	}
	if f.Object != held && !c.waits[f.Object] {
		c.waits[f.Object] = true
		c.waiting = append(c.waiting, f.Object)
	}
	if lastLink(f) == held { // otherwise More counts users or dependents
		c.unnamed = max(c.unnamed, f.More)
	}
	if f.Object == held && heldObject(c.main) != c.main.Object {
		c.main = f
		if heldObject(c.remedied) != held {
			c.remedied = f
		}
	}
	if heldObject(c.main) == held && len(f.Chain) > len(c.remedied.Chain) {
		c.remedied = f
	}
}

// heldObject returns the object that would be deleted once the end of a chain is resolved: its last
// object, or the one before if the last is an obstacle.
func heldObject(f *report.Finding) object.Ref {
	last := len(f.Chain) - 1
	if last < 0 {
		return f.Object
	}
	switch reason.Code(f.Code) {
	case reason.StillInUse:
		if last == 0 || f.Chain[last-1].Waits != string(reason.InUse) { // the chain does not name its users
			return f.Chain[last].Ref
		}
		return f.Chain[last-1].Ref
	case reason.LiveDependentBlocks, reason.OrphaningStuck, reason.WebhookUnreachable, reason.PolicyDenies, reason.PolicyUnknown, reason.APIServiceUnavailable,
		reason.DrainBlocked:
		return f.Chain[max(last-1, 0)].Ref
	default:
		return f.Chain[last].Ref
	}
}

// total returns the number of held objects.
func (c *stuckCause) total() int { return max(len(c.held), 1+c.unnamed) }

// severity returns the severity of the cause, which all its findings share.
func (c *stuckCause) severity() reason.Severity { return c.main.Severity }

// heldText names one held object, or the first few of a kind.
func (c *stuckCause) heldText(s Style) string {
	first := c.held[0]
	if c.total() == 1 {
		return s.nameInNamespace(first)
	}
	n := strconv.Itoa(c.total()) + " "
	for _, r := range c.held {
		if r.Kind != first.Kind || r.APIVersion != first.APIVersion {
			return n + "objects (" + enumerate(c.heldNames(s.nameInNamespace), c.total()) + ")"
		}
	}
	kind := countOf(s, c.total(), first.APIVersion, first.Kind)
	switch namespace, several := namespaces(c.held, func(r *object.Ref) object.Ref { return *r }); {
	case several:
		return kind + " (" + enumerate(c.heldNames(func(r object.Ref) string { return s.text(r.Namespace + "/" + r.Name) }), c.total()) + ")"
	case namespace != "":
		kind += " in namespace " + s.text(namespace)
	}
	return kind + " (" + enumerate(c.heldNames(func(r object.Ref) string { return s.text(r.Name) }), c.total()) + ")"
}

func (c *stuckCause) heldNames(name func(object.Ref) string) []string {
	return object.Mapped(c.held[:min(len(c.held), maxWaiting)], name)
}

// durationText returns the longest time that an object has been held.
func (c *stuckCause) durationText() string {
	var longest *int
	for _, f := range c.findings {
		if own := heldObject(f) == f.Object || heldObject(c.main) != c.main.Object; own && f.ForSeconds != nil && (longest == nil || *f.ForSeconds > *longest) {
			longest = f.ForSeconds
		}
	}
	if longest == nil {
		return ""
	}
	return ", for " + ageText(longest)
}

// whyText returns what blocks the objects.
func (c *stuckCause) whyText(s Style) string {
	why := whyHeld(c.main)
	same := !slices.ContainsFunc(c.findings, func(f *report.Finding) bool { return whyHeld(f) != why })
	if same && c.main.Code != string(reason.UnderWay) {
		return s.text(why)
	}
	ends := object.Distinct(object.Mapped(c.findings, lastLink))
	switch reason.Code(c.main.Code) {
	case reason.StillInUse:
		if lastLink(c.main) == heldObject(c.main) {
			_, why, _ := strings.Cut(c.main.Message, ": ")
			return "in use: " + s.text(why)
		}
		return "in use by " + s.firstRefs(ends, maxWaiting)
	case reason.LiveDependentBlocks:
		return "blocked by " + s.firstRefs(ends, maxWaiting) + ", which the garbage collector does not delete"
	default:
		general, _, _ := strings.Cut(why, ": ")
		return s.text(general)
	}
}

// whyLeft returns why a controller leaves its finalizer, as the message of a finding says it.
func whyLeft(f *report.Finding) string {
	_, why, _ := strings.Cut(f.Message, " holds it; ")
	return why
}

// whyHeld returns the reason in a finding, without the objects that wait.
func whyHeld(f *report.Finding) string {
	waits := "waits for finalizer " + f.Finalizer
	switch reason.Code(f.Code) {
	case reason.FinalizerControllerGone:
		return waits + "; its controller is not running"
	case reason.FinalizerControllerSlow:
		return waits + "; its controller " + report.WhyNotRemoved(f.Proof)
	case reason.FinalizerControllerUnknown:
		if why := whyLeft(f); why != report.UnknownRemover {
			return waits + "; " + why
		}
		return waits + "; unknown whether its controller is running"
	case reason.FinalizerControllerPaused:
		return waits + "; " + whyLeft(f)
	case reason.FinalizerControllerAlive:
		return waits + "; its controller is running"
	default:
	}
	held := heldObject(f).FullName()
	return strings.TrimPrefix(strings.TrimPrefix(f.Message, "waits for "+held+": "), "waits for "+held+", which is ")
}

// maxBlocks is the number of causes with more than a line.
const maxBlocks = 4

// detail is the level of detail for a cause.
type detail struct {
	// words is the maximum number of lines of a text; proofs and commands limit their numbers.
	words, proofs, commands int
}

// details are tried in order until the answer fits on a screen.
var details = []detail{{words: 3, proofs: 2, commands: 2}, {words: 2, proofs: 1, commands: 2}, {words: 1, proofs: 1, commands: 1}}

// writeCauses writes a block for each of the first causes and a line for each of the others, as far
// as there is room. The rest is counted.
func writeCauses(w *writer, causes []*stuckCause, room int) {
	blocks, rest := w.style.blocksOf(causes, room)
	used := 0
	for _, b := range blocks {
		w.line()
		w.lines(b)
		used += 1 + len(b)
	}
	rests := causes[len(blocks):]
	if len(rests) == 0 && !rest {
		return
	}
	w.line()
	lines := min(len(rests), max(room-used-2, 0))
	for _, c := range rests[:lines] {
		w.shortProse(1, c.line(w.style), 2)
	}
	w.shortProse(1, omittedCauses(rests[lines:]), 2)
}

// blocksOf returns the lines of the first causes in as much detail as fits. left reports whether
// something was left out.
func (s Style) blocksOf(causes []*stuckCause, room int) (blocks [][]string, left bool) {
	most := min(len(causes), maxBlocks)
	// Causes that end by themselves get no block next to others.
	if i := slices.IndexFunc(causes, (*stuckCause).endsByItself); i > 0 {
		most = min(most, i)
	}
	for n := most; n > 0; n-- {
		others := 0
		if len(causes) > n {
			others = 2 + min(len(causes)-n, 2)
		}
		for _, d := range details {
			blocks, used := make([][]string, n), others
			left = false
			for i, c := range causes[:n] {
				blocks[i] = linesOf(s, func(w *writer) { left = c.write(w, d) || left })
				used += 1 + len(blocks[i])
			}
			if left && others == 0 {
				used += 2
			}
			if used <= room || n == 1 && d == details[len(details)-1] {
				return blocks, left
			}
		}
	}
	return nil, true
}

// omittedCauses counts the omitted causes and names the option that shows them.
func omittedCauses(causes []*stuckCause) string {
	if len(causes) == 0 {
		return "All evidence and commands: -o wide"
	}
	objects := 0
	for _, c := range causes {
		objects += c.total()
	}
	return "and " + report.Plural(len(causes), "more cause") + ", of " + report.Plural(objects, "object") + ": -o wide"
}

// endsByItself reports whether the cause ends without intervention.
func (c *stuckCause) endsByItself() bool { return c.severity() == reason.Info }

// line returns the cause on one line.
func (c *stuckCause) line(s Style) string {
	return s.paint(severityColours[c.severity()], c.heldText(s)) + c.durationText() + ": " + c.whyText(s)
}

// write writes the block of a cause: the held objects and duration, the reason, the evidence about
// the responsible controller, the waiting objects, and the commands. It reports whether something
// was left out.
func (c *stuckCause) write(w *writer, d detail) (left bool) {
	s := w.style
	const indent, hang = "  ", 4
	if c.isExplained {
		w.shortProse(d.words, sentenceCase(s.paint(severityColours[c.severity()], c.whyText(s))), 2)
	} else {
		w.shortProse(d.words, s.paint(severityColours[c.severity()], c.heldText(s))+c.durationText(), 2)
		w.shortProse(d.words, indent+c.whyText(s), hang)
	}
	proofs := bestProofs(s, c.main, whyHeld(c.main), d.proofs)
	for _, p := range proofs {
		words := d.words
		if strings.HasPrefix(p, "not read: ") {
			words = 1 // usually a long list
		}
		w.shortProse(words, indent+s.pick("· ", "* ")+p, hang)
	}
	if len(c.waiting) > 0 {
		w.shortProse(d.words, indent+s.firstRefs(c.waiting, maxWaiting)+pluralForm(len(c.waiting), " waits", " wait")+" for "+pluralForm(c.total(), "it", "them"), hang)
	}
	shown := shownRemedies(c.remedied.Remedies, d.commands)
	for _, r := range shown {
		w.shortProse(d.words, indent+remedyText(s, c, r), hang)
		w.command(indent+"  ", r)
	}
	return len(c.main.Proof) > len(proofs) || len(c.remedied.Remedies) > len(shown)
}

// shownRemedies returns the commands to show: the first and mildest, and if that one only reads,
// also the last, which ends the wait.
func shownRemedies(all []report.Remedy, most int) []report.Remedy {
	if len(all) < 2 || most == 1 || !all[0].Action.Looks() || all[len(all)-1].Action.Looks() {
		return all[:min(len(all), 1)]
	}
	return []report.Remedy{all[0], all[len(all)-1]}
}

// remedyText returns the effect and cost of a command, and how to apply it to all held objects.
func remedyText(s Style, c *stuckCause, r report.Remedy) string {
	text := sentenceCase(s.text(r.Effect))
	switch n := c.total(); {
	case n == 1 || c.endsByItself():
	case r.Action == report.TakeOff:
		held := heldObject(c.remedied)
		all := s.text(report.ShellWord(object.KubectlKind(held.APIVersion, held.Kind))) + " --all-of-kind"
		if _, several := namespaces(c.held, func(r *object.Ref) object.Ref { return *r }); several {
			all += " -A"
		}
		text += " of one (of all " + strconv.Itoa(n) + ": " + all + ")"
	case r.Target == heldObject(c.remedied), r.Target == lastLink(c.remedied):
		text += " (one of " + strconv.Itoa(n) + ")"
	}
	if r.Cost != "" {
		return text + ". Cost: " + s.text(r.Cost) + "."
	}
	return text + ":"
}

// controllerProofs are the proofs that name the responsible controller, the best first.
// healthProofs are those about whether it works.
var (
	controllerProofs = []reason.Code{reason.InventorySays, reason.RemovedBy, reason.WrittenBy, reason.WrittenByTool}
	healthProofs     = []reason.Code{
		reason.ControllerPaused,
		reason.ScaledToZero, reason.FinalizerControllerMayNot, reason.FinalizerControllerNotReady, reason.ServiceAbsent, reason.NoEndpoints,
		reason.AttachmentSays, reason.BudgetSays, reason.PolicySays, reason.ConditionSays, reason.EventSays, reason.FinalizerControllerRuns,
		reason.FinalizerControllerSeen, reason.LeaseExpired, reason.LeaseRenewed, reason.FinalizerControllerAbsent,
		reason.NodeSays, reason.StaticPod, reason.RunsOutside, reason.RunsWithAllRights, reason.NotConnected,
		reason.MayFromOutside, reason.RightsNotTold, reason.NotRead, reason.LeaseNotFound, reason.TakesLong,
	}
)

// bestProofs returns the texts of the best proofs of a finding: the responsible controller, and
// whether it works. Proofs that only repeat the reason are left out.
func bestProofs(s Style, f *report.Finding, why string, most int) []string {
	_, detail, _ := strings.Cut(why, ": ")
	if detail == "" {
		detail = why
	}
	best := func(order []reason.Code) *report.Proof {
		for _, code := range order {
			i := slices.IndexFunc(f.Proof, func(p report.Proof) bool {
				return p.Reason == string(code) && !strings.Contains(why, p.Message) && !strings.Contains(p.Message, detail)
			})
			if i >= 0 {
				return &f.Proof[i]
			}
		}
		return nil
	}
	var texts []string
	for _, p := range []*report.Proof{best(healthProofs), best(controllerProofs)} {
		if p != nil && len(texts) < most {
			texts = append(texts, s.text(p.Message))
		}
	}
	slices.Reverse(texts) // first the controller, then whether it runs
	return texts
}
