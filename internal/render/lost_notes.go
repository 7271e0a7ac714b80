package render

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// lostBelow writes what follows the answer: omitted losses, the command to restore them, and the
// limits of the history.
func (w *writer) lostBelow(l *lostLook) {
	s := w.style
	w.fateNotes(l)
	if n := len(l.Elsewhere); n > 0 {
		most := min(n, fewNames)
		names := make([]string, most)
		for i := range names {
			names[i] = s.place(l.Elsewhere[i])
		}
		w.prose("Deleted elsewhere: "+enumerate(names, n)+". To see all of it: -A", 2)
	}
	if text := hiddenLosses(s, l); text != "" {
		w.prose(text, 2)
	}
	if text := thereAgain(s, l); text != "" {
		w.prose(text, 2)
	}
	w.lostRemedies(l)
	writeNotes(w, lostNotes(s, l))
}

func (w *writer) lostRemedies(l *lostLook) {
	for _, r := range l.Remedies {
		w.line()
		w.prose(remedyTitle(w.style, l, &r), 2)
		w.command("  ", r)
	}
}

// remedyTitle returns the line above a command.
func remedyTitle(s Style, l *lostLook, r *report.Remedy) string {
	switch {
	case l.ofFile():
		return "To bring it back, with the context of its cluster:"
	case r.Action != report.SaveLost:
		return "To bring it back:"
	}
	var spaces []object.Ref
	for _, name := range l.Terminating {
		spaces = append(spaces, object.Namespace.Ref("", name))
	}
	return "Nothing can be brought back while " + s.some(spaces, 2) + agree(len(spaces), " is", " are") +
		" Terminating (why: kubectl gc stuck). To save it before the API server forgets it:"
}

// thereAgain counts the deleted objects that exist again.
func thereAgain(s Style, l *lostLook) string {
	all := map[object.Ref]bool{} // by name, since an object may be deleted twice
	for i := range l.Losses {
		if x := &l.Losses[i]; !x.Routine && x.State == report.LossDeleted {
			all[x.Object.WithoutUID()] = x.Again != ""
		}
	}
	again := slices.DeleteFunc(slices.Collect(maps.Keys(all)), func(r object.Ref) bool { return !all[r] })
	switch n := len(again); {
	case n == 0:
		return ""
	case n == 1:
		return s.name(again[0]) + " exists again; its content is not compared."
	case n < len(all):
		return strconv.Itoa(n) + " of " + plural(len(all), "object") + agree(n, " exists", " exist") + " again; " + agree(n, "its", "their") + " content is not compared."
	default:
		return "All " + strconv.Itoa(n) + " objects exist again; their content is not compared."
	}
}

// hiddenLosses counts what a first screen leaves out.
func hiddenLosses(s Style, l *lostLook) string {
	if s.Wide {
		return ""
	}
	noise := 0
	usual, n := kindCounts{}, 0
	for i := range l.Losses {
		switch x := &l.Losses[i]; {
		case !x.Routine:
		case x.Object.IsEvent():
		case x.Object.Generated() || x.Request > 0:
			noise++
		default:
			usual.add(x.Object)
			n++
		}
	}
	text := hiddenText(noise)
	if n > 0 {
		text += "Routine: " + enumerate(usual.words(s)[:min(len(usual), fewKinds)], len(usual)) + ". "
	}
	if text == "" && len(l.Losses) <= fewLosses {
		return ""
	}
	return text + "Every object and why: -o wide."
}

// lostNotes returns the notes about the time span of the answer and its gaps.
func lostNotes(s Style, l *lostLook) []string {
	const before = ": nothing is known of what was before."
	var notes []string
	if l.SinceIgnored != "" {
		notes = append(notes, s.paint(bold, "--since was not applied")+": "+sinceIgnored[l.SinceIgnored]+". This is all that is remembered.")
	}
	switch {
	case l.Summary.Deleted+l.Summary.BeingDeleted+l.Summary.Orphaned == 0 && !l.Short:
	case l.Short:
		notes = append(notes, s.paint(bold, "History begins at "+momentText(s, l, l.From)+", later than asked for")+before)
	case l.Asked != nil:
		notes = append(notes, "Looked back to "+momentText(s, l, l.From)+", as asked.")
	default:
		notes = append(notes, "History begins at "+momentText(s, l, l.From)+before)
	}
	if l.To.Time == "" && l.SinceIgnored == "" {
		notes = append(notes, "Times are not known without the leases in kube-system.")
	}
	notes = append(notes, auditNotes(s, l)...)
	for _, text := range limitTexts(s, l) {
		notes = append(notes, s.paint(bold, "Incomplete:")+" "+text)
	}
	var gone, changed []string
	var sealed, unread []report.Gap
	for _, g := range l.Gaps {
		switch name, why := crdOf(g); {
		case why == reason.CRDGone:
			gone = append(gone, s.text(name))
		case name != "":
			if text := s.paint(bold, "Incomplete:") + " " + changedText(s, g); !slices.Contains(changed, text) {
				changed = append(changed, text)
			}
		case strings.HasPrefix(g.Why, string(reason.Encrypted)):
			sealed = append(sealed, g)
		default:
			unread = append(unread, g)
		}
	}
	if len(gone) > 0 {
		notes = append(notes, s.paint(bold, "Incomplete:")+" nothing is shown of "+enumerate(gone[:min(fewNames, len(gone))], len(gone))+" while "+agree(len(gone), "its CRD is", "their CRDs are")+" gone.")
	}
	notes = append(notes, changed...)
	if kinds := kindsOf(sealed); len(kinds) > 0 {
		notes = append(notes, s.paint(bold, "Incomplete:")+" "+enumerate(names(s, kinds), len(kinds))+" are encrypted in the snapshot: what went of them is not known.")
	}
	return append(notes, missing{source: l.Source, complete: len(unread) == 0, gaps: unread, told: true}.notes(s)...)
}

// changedText returns what is not shown because a CRD was recreated with differences.
func changedText(s Style, g report.Gap) string {
	name, why := crdOf(g)
	text := "the deleted instances of " + s.text(name) + " are not shown, since the CRD was made again "
	switch why {
	case reason.CRDVersionGone:
		version := s.text(strings.TrimPrefix(g.APIVersion, object.GroupOf(g.APIVersion)+"/"))
		return text + "without the version " + version + ". Add that to its versions to see them, and to bring them back."
	case reason.CRDScopeChanged:
		return text + "with another scope."
	default:
		return text + "with another kind."
	}
}

// sinceIgnored are the reasons why changes can't be dated.
var sinceIgnored = map[report.SinceIgnored]string{
	report.LeasesForbidden: "you may not list leases in namespace kube-system, and nothing else tells when a change was",
	report.NoLeaseRenewed:  "no lease in namespace kube-system is renewed, so that it is not known which changes are newer than that",
}

// SinceIgnored returns why it is unknown what was deleted since a time.
func SinceIgnored(document *report.Lost) string { return sinceIgnored[document.SinceIgnored] }

// limitTexts names the kinds with a shorter or incomplete history.
func limitTexts(s Style, l *lostLook) []string {
	var later, between []string
	for _, x := range l.Limits {
		if name := s.text(x.Resource); x.Listed {
			between = append(between, name+" before "+clockText(s, l, x.From))
		} else {
			later = append(later, name+" at "+clockText(s, l, x.From))
		}
	}
	some := func(names []string) string {
		if s.all() {
			return enumerate(names, len(names))
		}
		return enumerate(names[:min(fewNames, len(names))], len(names))
	}
	var texts []string
	if n := len(later); n > 0 {
		texts = append(texts, "the history of "+plural(n, "kind")+" begins later: "+some(later)+".")
	}
	if n := len(between); n > 0 {
		texts = append(texts, "what was created and deleted again within a minute or two is not known of "+plural(n, "kind")+": "+some(between)+".")
	}
	return texts
}
