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

// lostFooter writes what follows the answer: omitted losses, the command to restore them, and the
// limits of the history.
func (w *writer) lostFooter(l *lossIndex) {
	s := w.style
	w.objectLossNotes(l)
	if len(l.Elsewhere) > 0 {
		w.prose("Deleted elsewhere: "+firstOf(l.Elsewhere, maxNames, s.namespacedName)+". To see them all: -A", 2)
	}
	if text := hiddenLosses(s, l); text != "" {
		w.prose(text, 2)
	}
	if text := existsAgainText(s, l); text != "" {
		w.prose(text, 2)
	}
	for _, r := range l.Remedies {
		w.line()
		w.prose(remedyTitle(w.style, l, &r), 2)
		w.command("  ", r)
	}
	writeNotes(w, lostNotes(s, l))
}

// remedyTitle returns the line above a command.
func remedyTitle(s Style, l *lossIndex, r *report.Remedy) string {
	switch {
	case l.isFromFile():
		return "To bring it back, with the context of its cluster:"
	case r.Action != report.SaveLost:
		return "To bring it back:"
	}
	spaces := object.Mapped(l.Terminating, func(name string) object.Ref { return object.Namespace.Ref("", name) })
	return "Nothing can be brought back while " + s.firstRefs(spaces, 2) + pluralForm(len(spaces), " is", " are") +
		" Terminating (why: " + s.gcIn(l.Namespace, "stuck") + "). To save it before the API server forgets it:"
}

// existsAgainText counts the deleted objects that exist again.
func existsAgainText(s Style, l *lossIndex) string {
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
		return strconv.Itoa(n) + " of " + report.Plural(len(all), "object") + pluralForm(n, " exists", " exist") + " again; " + pluralForm(n, "its", "their") + " content is not compared."
	default:
		return "All " + strconv.Itoa(n) + " objects exist again; their content is not compared."
	}
}

// hiddenLosses counts what a first screen leaves out.
func hiddenLosses(s Style, l *lossIndex) string {
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
		text += "Routine: " + enumerate(usual.texts(s)[:min(len(usual), maxKindCounts)], len(usual)) + ". "
	}
	if text == "" && len(l.Losses) <= maxLosses {
		return ""
	}
	return text + "Every object and why: -o wide."
}

// lostNotes returns the notes about the time span of the answer and its gaps.
func lostNotes(s Style, l *lossIndex) []string {
	const before = ": nothing earlier is known."
	var notes []string
	if l.SinceIgnored != "" {
		notes = append(notes, s.paint(bold, "--since was not applied")+": "+sinceIgnoredReasons[l.SinceIgnored]+". This is everything that the history contains.")
	}
	switch {
	case l.Summary.Deleted+l.Summary.BeingDeleted+l.Summary.Orphaned == 0 && !l.Short:
	case l.Short:
		notes = append(notes, s.paint(bold, "History begins at "+momentText(s, l, l.From)+", later than requested")+before)
	case l.Asked != nil:
		notes = append(notes, "Searched back to "+momentText(s, l, l.From)+", as requested.")
	default:
		notes = append(notes, "History begins at "+momentText(s, l, l.From)+before)
	}
	if l.To.Time == "" && l.SinceIgnored == "" {
		notes = append(notes, "Times are unknown without the leases in kube-system.")
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
			if text := s.paint(bold, "Incomplete:") + " " + changedCRDText(s, g); !slices.Contains(changed, text) {
				changed = append(changed, text)
			}
		case strings.HasPrefix(g.Why, string(reason.Encrypted)):
			sealed = append(sealed, g)
		default:
			unread = append(unread, g)
		}
	}
	if len(gone) > 0 {
		notes = append(notes, s.paint(bold, "Incomplete:")+" instances of "+enumerate(gone[:min(maxNames, len(gone))], len(gone))+" are not shown while "+pluralForm(len(gone), "its CRD is", "their CRDs are")+" gone.")
	}
	notes = append(notes, changed...)
	if kinds := kindsOf(sealed); len(kinds) > 0 {
		notes = append(notes, s.paint(bold, "Incomplete:")+" "+enumerate(kindNames(s, kinds), len(kinds))+" are encrypted in the snapshot: which of them were deleted is unknown.")
	}
	return append(notes, missingInput{source: l.Source, complete: len(unread) == 0, gaps: unread, commandShown: true}.notes(s)...)
}

// changedCRDText returns what is not shown because a CRD was recreated with differences.
func changedCRDText(s Style, g report.Gap) string {
	name, why := crdOf(g)
	text := "the deleted instances of " + s.text(name) + " are not shown, since the CRD was recreated "
	switch why {
	case reason.CRDVersionGone:
		version := s.text(strings.TrimPrefix(g.APIVersion, object.GroupOf(g.APIVersion)+"/"))
		return text + "without version " + version + ". Add it to the versions of the CRD to see and restore them."
	case reason.CRDScopeChanged:
		return text + "with a different scope."
	default:
		return text + "with a different kind."
	}
}

// sinceIgnoredReasons are the reasons why changes can't be dated.
var sinceIgnoredReasons = map[report.SinceIgnored]string{
	report.LeasesForbidden: "you may not list leases in namespace kube-system, and nothing else shows when a change was made",
	report.NoLeaseRenewed:  "no lease in namespace kube-system is renewed, so it is unknown which changes are newer",
}

// SinceIgnored returns why it is unknown what was deleted since a time.
func SinceIgnored(document *report.Lost) string { return sinceIgnoredReasons[document.SinceIgnored] }

// limitTexts names the kinds with a shorter or incomplete history.
func limitTexts(s Style, l *lossIndex) []string {
	var later, between []string
	for _, x := range l.Limits {
		if name := s.text(x.Resource); x.Listed {
			between = append(between, name+" before "+clockText(s, l, x.From))
		} else {
			later = append(later, name+" at "+clockText(s, l, x.From))
		}
	}
	some := func(names []string) string { return enumerate(names[:s.atMost(maxNames, len(names))], len(names)) }
	var texts []string
	if n := len(later); n > 0 {
		texts = append(texts, "the history of "+report.Plural(n, "kind")+" begins later: "+some(later)+".")
	}
	if n := len(between); n > 0 {
		texts = append(texts, "objects created and deleted within a minute or two are unknown for "+report.Plural(n, "kind")+": "+some(between)+".")
	}
	return texts
}
