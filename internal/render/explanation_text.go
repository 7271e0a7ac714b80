package render

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	// maxFactLines is the maximum number of lines for one fact on the first screen.
	maxFactLines = 3
	// maxRefs is the number of objects that are named among many.
	maxRefs = 5
)

// ExplanationText prints why an object stays, is deleted or is stuck: the verdict, then owners,
// dependents and the deletes that delete it. For an object being deleted, it prints what it waits
// for, and the command that ends that. Wide output has everything.
func ExplanationText(out io.Writer, s Style, e *report.Explanation) error {
	s = s.forScreen()
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	notes := linesOf(s, func(x *writer) { writeNotes(x, explanationMissing(s, e)) })
	head := linesOf(s, func(x *writer) {
		x.shortProse(maxFactLines, verdictText(s, e), 2)
		explainContent(x, e.Content)
		explainStorage(x, e)
		explainReferrers(x, e)
		explainObstructed(x, e.Obstructs)
		explainRefusal(x, e.Refusal)
		if s.Wide {
			explainWide(x, e)
		} else {
			explainFacts(x, e)
		}
	})
	w.lines(head)
	w.lines(notes)
	if !s.Wide {
		explainRemedies(w, e, maxScreenLines-len(head)-len(notes))
	}
	return w.done()
}

func verdictText(s Style, e *report.Explanation) string {
	phrase := verdictPhrase(s, e.Verdict)
	if e.Message != "" && (e.Verdict == report.HeldByFinalizer || e.Verdict == report.WaitingForDependents) {
		phrase = verdictPhrase(s, report.BeingDeleted) // the message says what blocks it
	}
	text := s.nameInNamespace(e.Object) + " " + s.paint(verdictColours[e.Verdict], phrase)
	if len(e.WaitsFor) > 0 && e.WaitsFor[0].ForSeconds != nil {
		text += ", for " + ageText(e.WaitsFor[0].ForSeconds)
	}
	if e.Message == "" {
		return text + "."
	}
	return text + ": " + s.text(e.Message)
}

func verdictPhrase(s Style, v report.Verdict) string {
	return cmp.Or(verdictPhrases[v], "is "+s.text(string(v)))
}

var verdictPhrases = map[report.Verdict]string{
	report.Live:                 "stays",
	report.Garbage:              "is garbage",
	report.BeingDeleted:         "is being deleted",
	report.WaitingForDependents: "is being deleted and waits for its dependents",
	report.HeldByFinalizer:      "is being deleted and held by a finalizer",
	report.Undecidable:          "cannot be classified",
	report.Expires:              "does not stay",
}

// explainContent writes the content of a namespace: workloads and data by kind, and the number of
// generated objects.
func explainContent(w *writer, content []report.ContentCount) {
	if len(content) == 0 {
		return
	}
	s := w.style
	kinds := map[report.Role][]string{}
	hidden := 0
	for _, c := range content {
		if c.Role == report.GeneratedRole && !s.Wide {
			if ref := (object.Ref{APIVersion: c.APIVersion, Kind: c.Kind}); !ref.IsEvent() {
				hidden += c.Count
			}
			continue
		}
		kinds[c.Role] = append(kinds[c.Role], countOf(s, c.Count, c.APIVersion, c.Kind))
	}
	if hidden > 0 {
		kinds[report.GeneratedRole] = []string{report.Plural(hidden, "generated object")}
	}
	for _, role := range []struct {
		role  report.Role
		title string
	}{{report.WorkloadRole, "Workloads: "}, {report.DataRole, "Data: "}, {report.OtherRole, "Also in it: "}, {report.GeneratedRole, "Hidden: "}} {
		if len(kinds[role.role]) > 0 {
			w.shortProse(maxFactLines, role.title+strings.Join(kinds[role.role], ", "), 2)
		}
	}
}

// explainStorage writes the users of a PVC, and what a delete does to its data.
func explainStorage(w *writer, e *report.Explanation) {
	s := w.style
	if len(e.UsedBy) > 0 {
		w.shortProse(maxFactLines, "Used by: "+s.firstRefs(e.UsedBy, maxRefs), 2)
	} else if e.Object.Is(object.PVC) && len(e.Referrers) == 0 {
		w.line("Used by: no pod that was seen")
	}
	x := e.Storage
	if x == nil {
		return
	}
	text := "Its storage: "
	if x.Volume != nil && x.Claim != nil {
		text = "Bound to " + s.name(*x.Volume) + "; its storage: "
	}
	if x.ReclaimPolicy != "" {
		text = strings.TrimSuffix(text, ": ") + " (" + s.text(x.ReclaimPolicy) + "): "
	}
	w.shortProse(maxFactLines, text+s.text(x.Message), 2)
}

// explainObstructed writes the deletions that an object obstructs.
func explainObstructed(w *writer, list []report.BlockedDeletion) {
	s := w.style
	var texts []string
	ends := false
	for i := range list {
		then := "something else holds it, too"
		switch list[i].Outcome {
		case report.Deleted:
			then, ends = "ends once this is deleted", true
		case report.Unknown:
			then, ends = "may end once this is deleted", true
		}
		texts = append(texts, s.namespacedName(list[i].Object)+" ("+then+")")
	}
	if len(texts) == 0 {
		return
	}
	most := s.atMost(maxRefs, len(texts))
	text := "Obstructs the deletion of: " + enumerate(texts[:min(most, len(texts))], len(texts))
	if ends {
		text += ". A deletion that has ended cannot be taken back"
	}
	w.prose(text, 2)
}

// explainRefusal writes what refuses a delete of the object.
func explainRefusal(w *writer, r *report.DeleteRefusal) {
	if r == nil {
		return
	}
	lead := "Its delete may be refused: "
	if r.Certain {
		lead = w.style.paint(red, "Its delete is refused:") + " "
	}
	w.shortProse(maxFactLines, lead+w.style.text(r.Message), 2)
}

// explainFacts writes the main facts about an object: its owners, its dependents, the deletes that
// delete it, and its last warning.
func explainFacts(w *writer, e *report.Explanation) {
	s := w.style
	if owners := ownerChain(s, e); owners != "" {
		w.shortProse(maxFactLines, "Owned by: "+owners, 2)
	}
	if len(e.Dependents) > 0 {
		w.shortProse(maxFactLines, "Owns: "+dependentsText(s, e.Dependents), 2)
	}
	if idle := idleFinalizers(s, e.Finalizers); idle != "" {
		w.shortProse(maxFactLines, "When deleted, it waits for: "+idle, 2)
	}
	explainDeletes(w, e)
	if e.Verdict == report.Garbage && strings.HasPrefix(e.Next, "DELETE") && e.Reason != string(reason.RequestRefused) {
		w.line("Next: the garbage collector deletes it.")
	}
	if d := e.Deadlock; d != nil {
		w.shortProse(maxFactLines, s.paint(red, "Deadlock:")+" "+s.text(d.Message)+". This does not resolve by itself.", 2)
	}
	explainWarnings(w, e)
}

// ownerChain returns the chain of owners; with several owners, only these.
func ownerChain(s Style, e *report.Explanation) string {
	if len(e.Owners) > 1 {
		return firstOf(e.Owners, maxRefs, func(o report.OwnerFinding) string { return s.name(o.Ref) + ownerText(s, &o) })
	}
	if len(e.Owners) == 1 && len(e.Chain) == 1 {
		return s.name(e.Chain[0].Ref) + ownerText(s, &e.Owners[0])
	}
	var links []string
	for i, c := range e.Chain {
		if left := len(e.Chain) - maxRefs; left > 0 && i >= maxRefs-1 && i < len(e.Chain)-1 {
			if i == maxRefs-1 {
				links = append(links, strconv.Itoa(left)+" more")
			}
			continue
		}
		links = append(links, s.name(c.Ref)+classText(s, c.Class))
	}
	return strings.Join(links, s.pick(" → ", " -> "))
}

// ownerText returns the problem of an owner reference; empty if there is none.
func ownerText(s Style, o *report.OwnerFinding) string {
	if o.Class == report.Dangling && o.Elsewhere != nil {
		return s.paint(red, " (counts as absent)")
	}
	return classText(s, o.Class)
}

// classText returns the problem of an owner; empty if there is none.
func classText(s Style, c report.Class) string {
	switch c {
	case report.Dangling:
		return s.paint(red, " (does not exist)")
	case report.Waiting:
		return s.paint(yellow, " (being deleted, waits for it)")
	case report.UnknownClass:
		return s.paint(magenta, " (not seen)")
	default:
		return ""
	}
}

// dependentsText names the first dependents, blocking ones first.
func dependentsText(s Style, dependents []report.DependentFinding) string {
	sorted := slices.Clone(dependents)
	slices.SortStableFunc(sorted, func(a, b report.DependentFinding) int { return object.TrueFirst(a.Blocking, b.Blocking) })
	return s.firstRefs(object.Mapped(sorted, func(d report.DependentFinding) object.Ref { return d.Ref }), maxRefs)
}

// idleFinalizers returns the finalizers that the object will wait for after a delete.
func idleFinalizers(s Style, finalizers []report.FinalizerFinding) string {
	var names []string
	for _, f := range finalizers {
		if f.State == "Idle" {
			names = append(names, "finalizer "+s.text(f.Name))
		}
	}
	return enumerate(names[:min(len(names), maxRefs)], len(names))
}

// explainDeletes writes the single deletes that delete the object.
func explainDeletes(w *writer, e *report.Explanation) {
	s := w.style
	objects, policies := takersByObject(e.TakenBy)
	asked := len(objects) < len(e.TakenBy) // TakenBy has an entry for each policy of an object
	var names []string
	for i := range e.TakenBy {
		x := &e.TakenBy[i]
		if len(objects) == 0 || objects[0] != x.Object {
			continue
		}
		objects = objects[1:]
		name, how := s.name(x.Object), deleteCondition(*x)
		if x.Object.Namespace != e.Object.Namespace {
			name = s.nameInNamespace(x.Object)
		}
		if asked {
			how = policies[x.Object]
		}
		if how != "" {
			name += " (" + s.text(how) + ")"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return
	}
	lead, tail := pluralForm(len(names), "Deleted when this is deleted: ", "Deleted when one of these is deleted: "), ""
	if e.TakersUntried > 0 {
		tail = "; " + report.Plural(e.TakersUntried, "more distant object") + " not tried"
	}
	w.lines(shortenList(names, "", maxRefs, maxFactLines+1, func(text string) []string {
		return linesOf(s, func(x *writer) { x.prose(lead+text+tail, 2) })
	}))
}

// deleteCondition returns the condition for a delete to delete an object; empty if there is none.
func deleteCondition(x report.Taker) string {
	var parts []string
	if x.Policy != "Background" {
		parts = append(parts, "with --cascade="+lower(x.Policy))
	}
	switch {
	case x.Unknown:
		parts = append(parts, "uncertain")
	case x.Later || len(x.Once) > 0:
		parts = append(parts, takerCondition(x))
	}
	return strings.Join(parts, ", ")
}

// explainWarnings writes the last warning about an object, or why events are unknown.
func explainWarnings(w *writer, e *report.Explanation) {
	s := w.style
	if e.EventsUnknown != "" {
		w.shortProse(maxFactLines, "Events could not be read: "+s.text(e.EventsUnknown)+".", 2)
	}
	i := slices.IndexFunc(e.Events, func(x report.EventFinding) bool { return x.Type == "Warning" })
	if i < 0 {
		return
	}
	x := e.Events[i]
	text := s.paint(yellow, "Last warning:") + " " + s.text(x.Reason) + ": " + s.text(x.Message)
	if x.Count > 1 {
		text += " (" + strconv.Itoa(x.Count) + " times)"
	}
	w.shortProse(maxFactLines, text, 2)
}

// explainRemedies writes what an object being deleted waits for, and the commands that end that.
// For another object, it writes what would change the verdict.
func explainRemedies(w *writer, e *report.Explanation, room int) {
	causes := slices.DeleteFunc(stuckCausesOf(e.WaitsFor), func(c *stuckCause) bool {
		return c.main.Code == string(reason.UnderWay) && len(c.main.Chain) < 2 // the verdict says so
	})
	commands := 0
	for _, c := range causes {
		c.isExplained = len(c.held) == 1 && c.held[0] == e.Object && c.total() == 1
		c.waiting = slices.DeleteFunc(c.waiting, func(r object.Ref) bool { return r == e.Object })
		asked := *c.remedied
		asked.Remedies = slices.DeleteFunc(slices.Clone(asked.Remedies), func(r report.Remedy) bool { return r.Act == report.Act{Action: report.Explain, Target: e.Object} }) // this is the answer
		c.remedied = &asked
		commands += len(c.remedied.Remedies)
	}
	if len(causes) > 0 {
		writeCauses(w, causes, room)
	}
	if commands > 0 {
		return
	}
	s := w.style
	for _, r := range shownRemedies(e.Remedies, 2) {
		w.line()
		w.shortProse(maxFactLines, remedyText(s, &stuckCause{held: []object.Ref{e.Object}, main: &report.Finding{}, remedied: &report.Finding{Object: e.Object}}, r), 2)
		w.command("  ", r)
	}
}

// explanationMissing returns the notes about missing input of an explanation. If the only
// consequence is a specific open question, it names that.
func explanationMissing(s Style, e *report.Explanation) []string {
	u := missingInput{source: e.Source, complete: e.Complete, gaps: e.Gaps}
	u.commandShown = slices.ContainsFunc(e.Remedies, func(r report.Remedy) bool { return r.Action == report.ShowKinds })
	matter, _ := u.split()
	var open, lists []string
	for _, g := range matter {
		text := undecidedQuestion(s, e, g)
		if text == "" {
			return u.notes(s)
		}
		open = append(open, text)
		lists = append(lists, kindsOf([]report.Gap{g})[0].name)
	}
	if len(open) == 0 || s.isComplete() {
		return u.notes(s)
	}
	text := "Unknown whether " + strings.Join(open, ", and whether ") + ": "
	if e.Source.Type == "cluster" {
		return []string{text + strings.Join(lists, " and ") + " could not be read" + whyUnread(s, matter)}
	}
	return []string{text + "the dump has no " + strings.Join(lists, " and no ") + ".", gatherText(s, kindsOf(matter))}
}

// undecidedQuestion returns the only question that the objects of a gap can decide for an object
// that stays or is garbage; empty if there may be others.
func undecidedQuestion(s Style, e *report.Explanation, g report.Gap) string {
	group := object.GroupOf(g.APIVersion)
	switch {
	case e.Verdict != report.Live && e.Verdict != report.Garbage:
	case group == "" && g.Resource == "namespaces" && e.Object.Namespace != "":
		return "namespace " + s.text(e.Object.Namespace) + " is being deleted"
	case group == "" && g.Resource == "nodes" && e.Object.Is(object.Pod):
		return "its node still exists"
	case group == object.CRD.Group && g.Resource == object.CRD.Plural:
		return "its CRD is being deleted"
	}
	return ""
}
