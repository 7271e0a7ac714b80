package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// maxLinks is the number of links above which a chain has one link a line.
const maxLinks = 6

// explainWide writes everything about an object: rule, evidence, references, finalizers, proofs
// and commands.
func explainWide(w *writer, e *report.Explanation) {
	s := w.style
	if e.Reason != "" {
		w.line()
		w.prose("Rule: "+ruleText(s, e), 2)
	}
	if e.Next != "" {
		w.prose("Next: the garbage collector sends "+s.text(e.Next)+".", 2)
	}
	explainSince(w, e.WaitsFor)
	explainDeadlock(w, e.Deadlock)
	explainOwners(w, e)
	explainChain(w, e.Chain)
	explainDependents(w, e.Dependents)
	explainFinalizers(w, e.Finalizers)
	explainWaits(w, e)
	explainTakers(w, e)
	explainEvents(w, e)
	if len(e.Remedies) > 0 {
		w.section("What would change it")
		for _, r := range e.Remedies {
			w.prose("  "+remedyEffect(s, r)+":", 4)
			w.command("    ", r)
		}
	}
}

// section writes the title of a section.
func (w *writer) section(title string) {
	w.line()
	w.prose(w.style.paint(bold, title)+":", 2)
}

// ruleText returns the code of the rule, explained if the document has no message.
func ruleText(s Style, e *report.Explanation) string {
	if short := reason.Short(e.Reason); e.Message == "" && short != e.Reason {
		return s.text(e.Reason) + s.pick(" — ", " - ") + s.text(short)
	}
	return s.text(e.Reason)
}

func explainOwners(w *writer, e *report.Explanation) {
	s := w.style
	if len(e.Owners) == 0 {
		w.line()
		w.line("No owners.")
		return
	}
	w.section("Owners")
	t := &table{headers: []string{"CLASS", "OWNER", "ROLE", "EVIDENCE"}, indent: 2}
	for _, o := range e.Owners {
		var role []string
		if o.Controller {
			role = append(role, "controller")
		}
		if o.BlockOwnerDeletion {
			role = append(role, "blocks")
		}
		t.add(classColours[o.Class], s.text(string(o.Class)), s.name(o.Ref), strings.Join(role, ","), s.text(o.Evidence))
	}
	w.table(t)
}

var classColours = map[report.Class]string{report.Existing: green, report.Dangling: red, report.Waiting: yellow, report.UnknownClass: magenta}

// explainChain writes the chain of owners on one line, or one link a line if it is too long.
func explainChain(w *writer, chain []report.ChainLink) {
	if len(chain) < 2 {
		return
	}
	s := w.style
	w.section("Chain of owners")
	arrow := s.pick("→", "->")
	links := chainLinks(s, chain)
	if len(links) <= maxLinks {
		w.line("  " + strings.Join(links, " "+arrow+" "))
		return
	}
	for i, link := range links {
		if i > 0 {
			link = arrow + " " + link
		}
		w.prose("  "+link, 4)
	}
}

func chainLinks(s Style, chain []report.ChainLink) []string {
	links := make([]string, 0, len(chain))
	for i, c := range chain {
		link := s.namespacedName(c.Ref)
		if i > 0 && c.Namespace == chain[i-1].Namespace {
			link = s.name(c.Ref)
		}
		if c.Class != "" {
			link += " (" + s.paint(classColours[c.Class], s.text(lower(string(c.Class)))) + ")"
		}
		links = append(links, link)
	}
	return links
}

func explainDependents(w *writer, dependents []report.DependentFinding) {
	if len(dependents) == 0 {
		return
	}
	s := w.style
	w.section(sentenceCase(report.Plural(len(dependents), "dependent")))
	t := &table{headers: []string{"NAMESPACE", "OBJECT", "BLOCKS", "STATE"}, indent: 2}
	for _, d := range dependents {
		blocks := "no"
		if d.Blocking {
			blocks = "yes"
		}
		t.add("", s.text(d.Ref.Namespace), s.name(d.Ref), blocks, s.text(d.State))
	}
	dropCommonNamespace(t, dependents, func(d *report.DependentFinding) object.Ref { return d.Ref })
	w.table(t)
}

func explainFinalizers(w *writer, finalizers []report.FinalizerFinding) {
	if len(finalizers) == 0 {
		return
	}
	s := w.style
	w.section("Finalizers")
	t := &table{headers: []string{"FINALIZER", "STATE", "REMOVED BY"}, indent: 2}
	weighed := slices.ContainsFunc(finalizers, func(f report.FinalizerFinding) bool { return f.Verdict != "" })
	if weighed {
		t.headers = slices.Insert(t.headers, 2, "CONTROLLER")
	}
	for _, f := range finalizers {
		by := cmp.Or(s.text(f.RemovedBy), "unknown")
		if f.Evidence != "" {
			by += " (" + s.text(f.Evidence) + ")"
		}
		if f.Remedy != "" {
			by += s.pick(" → ", " -> ") + s.text(f.Remedy)
		}
		row := []string{s.text(f.Name), s.text(f.State), by}
		if weighed {
			row = slices.Insert(row, 2, s.text(string(f.Verdict)))
		}
		t.add("", row...)
	}
	w.table(t)
}

func explainTakers(w *writer, e *report.Explanation) {
	if len(e.TakenBy) == 0 && e.TakersUntried == 0 {
		return
	}
	s := w.style
	w.section("Deleting any of these deletes it")
	objects, policies := takersByObject(e.TakenBy)
	t := &table{headers: []string{"OBJECT", "POLICY"}, indent: 2}
	for _, ref := range objects {
		object := s.name(ref)
		if ref.Namespace != e.Object.Namespace {
			object = s.namespacedName(ref)
		}
		t.add("", object, s.text(policies[ref]))
	}
	w.table(t)
	if e.TakersUntried > 0 {
		w.prose("  "+report.Plural(e.TakersUntried, "more distant object")+" not tried", 2)
	}
}

// takerCondition returns what must happen before a delete deletes an object.
func takerCondition(x report.Taker) string {
	if !x.Later {
		return "once " + controllersText(rawStyle, expectedReleases(x.Once))
	}
	held := slices.DeleteFunc(slices.Clone(x.Once), func(r report.Release) bool { return r.State == report.ControllerRuns })
	if len(held) == 0 {
		return "not at once; its dry run says why"
	}
	text := "if " + finalizerNames(rawStyle, uniqueFinalizers(held))
	if held[0].Object != x.Object {
		text += " of " + rawStyle.name(held[0].Object)
	}
	return text + " is removed; " + stateText(held)
}

// takersByObject returns the objects of the deletes, each once, and the policies that delete or may
// delete the explained object.
func takersByObject(takers []report.Taker) (objects []object.Ref, policies map[object.Ref]string) {
	policies = map[object.Ref]string{}
	for _, x := range takers {
		policy := x.Policy
		switch {
		case x.Unknown:
			policy += " (uncertain)"
		case x.Later || len(x.Once) > 0:
			policy += " (" + takerCondition(x) + ")"
		}
		if have, ok := policies[x.Object]; ok {
			policies[x.Object] = have + ", " + policy
			continue
		}
		objects = append(objects, x.Object)
		policies[x.Object] = policy
	}
	return objects, policies
}

// explainSince writes since when an object is being deleted.
func explainSince(w *writer, findings []report.Finding) {
	if len(findings) == 0 || findings[0].Since == "" {
		return
	}
	s := w.style
	text := "Being deleted since " + s.text(findings[0].Since)
	if d := ageText(findings[0].ForSeconds); d != "" {
		text += ", for " + d
	}
	w.prose(text+".", 2)
}

// explainWaits writes what must happen before an object is deleted, with the proofs. It leaves out
// what the explanation has elsewhere.
func explainWaits(w *writer, e *report.Explanation) {
	findings := slices.DeleteFunc(bySeverity(e.WaitsFor), func(f *report.Finding) bool {
		return f.Code == string(reason.UnderWay) && len(f.Chain) == 1 // the verdict says it
	})
	if len(findings) == 0 {
		return
	}
	s := w.style
	w.section("What it ultimately waits for")
	unread := map[string]bool{}
	for _, f := range findings {
		text := s.paint(severityColours[f.Severity], s.text(f.Message)) + " (" + s.text(f.Code) + ")"
		if f.More > 0 {
			text += ", and " + strconv.Itoa(f.More) + " more of the same kind"
		}
		w.prose("  "+text, 4)
		if len(f.Chain) > 1 {
			w.prose("    "+waitText(s, f.Chain), 6)
		}
		for _, text := range proofTexts(s, e, f, unread) {
			w.prose("    "+s.pick("· ", "* ")+text, 6)
		}
	}
}

// proofTexts returns the proofs of a finding. Proofs about missing input are usually the same for
// all findings, and are written once.
func proofTexts(s Style, e *report.Explanation, f *report.Finding, unread map[string]bool) []string {
	const again = "not read: the same as above"
	var texts []string
	for _, p := range f.Proof {
		text := s.text(p.Message)
		switch {
		case isShownElsewhere(e, f, p):
			continue
		case p.Reason == string(reason.NotRead) && !unread[text]:
			unread[text] = true
		case p.Reason == string(reason.NotRead) && slices.Contains(texts, again):
			continue
		case p.Reason == string(reason.NotRead):
			text = again
		}
		texts = append(texts, text)
	}
	return texts
}

// isShownElsewhere reports whether the explanation has a proof elsewhere: in the verdict, the table
// of finalizers, the message of the finding or the listed events.
func isShownElsewhere(e *report.Explanation, f *report.Finding, p report.Proof) bool {
	return p.Message == e.Message || strings.Contains(f.Message, p.Message) ||
		slices.ContainsFunc(e.Finalizers, func(x report.FinalizerFinding) bool {
			when, known := strings.CutPrefix(x.Evidence, "removed ")
			return known && p.Message == x.RemovedBy+" removes it "+when
		}) ||
		slices.ContainsFunc(e.Events, func(x report.EventFinding) bool { return p.Message == x.Reason+": "+x.Message })
}

// explainDeadlock writes why a deletion never finishes by itself, and the cycle of waiting objects.
func explainDeadlock(w *writer, d *report.Deadlock) {
	if d == nil {
		return
	}
	s := w.style
	w.line()
	w.prose(s.paint(red, "Deadlock:")+" "+s.text(d.Message)+". This does not resolve by itself ("+s.text(d.Reason)+").", 2)
	if len(d.Path) > 1 {
		links := object.Mapped(d.Path, s.namespacedName)
		w.prose("Wait cycle: "+strings.Join(links, " "+s.pick("→", "->")+" ")+".", 2)
	}
}

// explainEvents lists the events of an object, or why they are unknown.
func explainEvents(w *writer, e *report.Explanation) {
	s := w.style
	if e.EventsUnknown != "" {
		w.line()
		w.prose("Events could not be read: "+s.text(e.EventsUnknown)+".", 2)
	}
	if len(e.Events) == 0 {
		return
	}
	w.section("Last events")
	t := &table{headers: []string{"TYPE", "REASON", "LAST SEEN", "COUNT", "FROM", "MESSAGE"}, indent: 2}
	for _, x := range e.Events {
		colour := ""
		if x.Type == "Warning" {
			colour = yellow
		}
		t.add(colour, s.text(x.Type), s.text(x.Reason), s.text(x.Last), strconv.Itoa(x.Count), s.text(x.From), s.text(x.Message))
	}
	w.table(t)
}
