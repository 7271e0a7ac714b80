package render

import (
	"bufio"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// maxUndoRows is the number of steps on the first screen of an undo.
const maxUndoRows = 10

// UndoText prints an undo: the steps in order, the skipped objects with reasons, and after a run
// the results.
func UndoText(out io.Writer, s Style, u *report.Undo) error {
	s = s.forScreen()
	u, twice := latestVersions(u)
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	for _, text := range notRestoredTexts(s, u) {
		w.prose(s.paint(red, "Incomplete:")+" "+text, 2)
	}
	if u.Lost != nil && u.State == "" {
		w.lostRequests(indexLosses(u.Lost))
	}
	w.prose(undoHeadline(s, u), 2)
	if u.Older != nil {
		w.olderLosses(u)
	}
	if u.Message != "" {
		w.prose(s.text(u.Message), 2)
	}
	w.waitingClaims(u)
	w.titled("", undoTable(s, u).first(maxUndoRows, s))
	w.titled("Left unchanged:", skippedTable(s, u.Skipped))
	w.differences(u)
	// After an interrupted undo, the next one prints these tables and notes.
	interrupted := u.State == report.Interrupted
	if !interrupted {
		w.titled("Owner references that are not restored:", droppedTable(s, u).first(maxRunRows, s))
	}
	if s.Wide {
		w.titled("Fields that are not written as saved:", changeTable(s, u))
	}
	if u.Later != nil && u.State == "" {
		w.nextUndo(u)
	}
	var notes []string
	if !interrupted {
		notes = undoNotes(s, u)
	}
	if spaces := terminatingNamespaces(u); len(spaces) > 0 {
		then := s.gc("undo "+filepath.Base(u.Bundle)) + " brings back the rest."
		if u.Lost != nil {
			then = s.gcIn(u.Lost.Namespace, "undo --since") + " with the same start also brings back what is deleted until then."
		}
		notes = append(notes, "What "+s.firstRefs(spaces, 2)+pluralForm(len(spaces), " waits", " wait")+" for: "+s.gc("stuck")+". Once "+pluralForm(len(spaces), "it is", "they are")+" gone, "+then)
	}
	if len(twice) > 0 {
		notes = append(notes, s.firstRefs(twice, 2)+pluralForm(len(twice), " was", " were")+" deleted more than once: the latest version is restored.")
	}
	if u.Lost != nil && u.State == "" {
		notes = append(notes, undoLostNotes(s, u)...)
	}
	writeNotes(w, notes)
	if u.Journal != "" {
		if len(notes) == 0 {
			w.line()
		}
		w.line("Journal: ", s.text(u.Journal)) // in one piece, to be copied
	}
	return w.done()
}

// undoNotes returns the notes of the steps, each once, with its objects.
func undoNotes(s Style, u *report.Undo) []string {
	var about groups[string, object.Ref]
	for _, step := range u.Steps {
		for _, n := range step.Notes {
			if n.Volume != nil {
				continue // waitingClaims prints it above the steps
			}
			about.add(n.Message, step.Object)
		}
	}
	var notes []string
	for _, message := range about.keys {
		notes = append(notes, s.firstRefs(about.of[message], 3)+": "+s.text(message)+".")
	}
	if slices.ContainsFunc(u.Skipped, func(x report.UndoSkip) bool { return x.Reason == string(reason.WouldRunAgain) && x.UID == "" }) {
		notes = append(notes, "To restore finished objects, too: --finished.")
	}
	if u.SameCluster == report.ProofAssumed {
		notes = append(notes, "Nothing shows that the backup is of this cluster: --assume-same-cluster was given.")
	}
	if u.SameCluster == report.ProofJustSaved {
		notes = append(notes, "Nothing in the backup shows which cluster it is from: to undo it later, --assume-same-cluster is needed.")
	}
	return notes
}

// terminatingNamespaces returns the namespaces that are being deleted. Nothing can be created in
// them.
func terminatingNamespaces(u *report.Undo) []object.Ref {
	seen := map[string]bool{}
	var spaces []object.Ref
	for i := range u.Skipped {
		x := &u.Skipped[i]
		if x.Reason == string(reason.NamespaceTerminates) && !seen[x.Object.Namespace] {
			seen[x.Object.Namespace] = true
			spaces = append(spaces, object.Namespace.Ref("", x.Object.Namespace))
		}
	}
	return spaces
}

func undoHeadline(s Style, u *report.Undo) string {
	sum := u.Summary
	if u.Lost != nil && u.State == "" && sum.Planned > 0 {
		return plannedText(u)
	}
	head := "undo of " + s.text(filepath.Base(u.Bundle)) + ": "
	if u.Bundle == "" {
		head = "undo: "
	}
	if u.State == "" {
		if sum.Planned == 0 && u.Bundle == "" && u.Lost != nil {
			if u.Lost.Short {
				l := indexLosses(u.Lost)
				return head + "nothing is restored. The history begins at " + momentText(s, l, l.From) + ", later than requested: earlier deletions are unknown. " + nothingToUndo(s, u)
			}
			return head + "nothing to do. " + nothingToUndo(s, u)
		}
		if sum.Planned == 0 && sum.Differs+sum.NotRestored > 0 {
			return head + "nothing is restored"
		}
		if sum.Planned == 0 {
			return head + "nothing to do"
		}
		return head + plannedText(u)
	}
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{sum.Made, "made"}, {sum.Changed, "of them changed by the server"}, {sum.Restored, "restored"}, {sum.Superseded, "left to controllers"}, {sum.Failed, "refused"}, {sum.Unknown, "unknown"}, {sum.Differs, pluralForm(sum.Differs, "differs", "differ")}, {sum.NotDone, "not done"}, {sum.Skipped - skipsFor(u, reason.Differs) - sum.NotRestored, "left unchanged"}, {sum.NotRestored, "not restored"}} {
		if p.n > 0 {
			parts = append(parts, strconv.Itoa(p.n)+" "+p.word)
		}
	}
	return head + s.paint(stateColour(u.State), stateWords[u.State]) + "; " + strings.Join(parts, ", ")
}

// notRestoredTexts returns what the undo does not restore, and why.
func notRestoredTexts(s Style, u *report.Undo) []string {
	var lacks []string
	for _, why := range reason.NotRestored {
		n := skipsFor(u, why)
		if n == 0 {
			continue
		}
		were := pluralForm(n, "was not", "were not")
		if u.State == "" {
			were = "cannot be"
		}
		text := notRestoredWords[why]
		lacks = append(lacks, strconv.Itoa(n)+" of "+report.Plural(u.Summary.NotRestored+stepObjects(u), "object")+" "+were+" restored, since "+pluralForm(n, text[0], text[1])+".")
	}
	if n := u.Summary.Differs; n > 0 {
		lacks = append(lacks, report.Plural(n, "object")+" "+pluralForm(n, "exists", "exist")+" again and "+pluralForm(n, "differs", "differ")+" from what was saved. To overwrite: --overwrite.")
	}
	if n := u.Summary.Changed; n > 0 {
		lacks = append(lacks, report.Plural(n, "object")+" "+pluralForm(n, "was", "were")+" made with other values than were saved: the server, such as a webhook, changed them.")
	}
	if len(u.CutOff) > 0 {
		lacks = append(lacks, s.firstRefs(u.CutOff, 2)+pluralForm(len(u.CutOff), " was", " were")+" already being deleted when the history begins: what was gone by then is unknown, and not restored.")
	}
	return lacks
}

// notRestoredWords say why one object, or several, are not restored.
var notRestoredWords = map[reason.Code][2]string{
	reason.Forgotten:           {"the server no longer shows what it held", "the server no longer shows what they held"},
	reason.NotSaved:            {"its content was not saved", "their content was not saved"},
	reason.Unreadable:          {"its copy cannot be read", "their copies cannot be read"},
	reason.CannotTell:          {"it is unknown whether it exists", "it is unknown whether they exist"},
	reason.OwnersGone:          {"the garbage collector deletes it", "the garbage collector deletes them"},
	reason.StillTerminating:    {"it is still being deleted", "they are still being deleted"},
	reason.NamespaceTerminates: {"its namespace is still being deleted", "their namespaces are still being deleted"},
}

// plannedText counts what an undo would do.
func plannedText(u *report.Undo) string {
	text := report.Plural(stepObjects(u), "object") + " would be restored"
	if n := u.Summary.Skipped - u.Summary.NotRestored; n > 0 {
		text += ", " + strconv.Itoa(n) + " left unchanged"
	}
	return text
}

// stepObjects returns the number of objects in the steps.
func stepObjects(u *report.Undo) int {
	return len(object.SetOf(u.Steps, func(x report.UndoStep) object.Ref { return x.Object }))
}

func undoTable(s Style, u *report.Undo) *table {
	t := &table{headers: []string{"N", "DO", "NAMESPACE", "OBJECT", "OWNERS", "RESULT"}}
	for i := range u.Steps {
		x := &u.Steps[i]
		text := stepWords[x.State]
		if x.UID != "" && s.Wide {
			text += " with uid " + s.text(string(x.UID))
		}
		switch {
		case x.State == report.StepPlanned:
			text = "pending"
		case x.State == report.StepMade && len(x.Differences) > 0:
			text += ", changed by the server"
		}
		t.add("", strconv.Itoa(x.N), s.text(lower(x.Verb)), s.text(x.Object.Namespace), s.name(x.Object), s.firstRefs(x.References, 2), text)
	}
	dropCommonNamespace(t, u.Steps, func(x *report.UndoStep) object.Ref { return x.Object })
	// Messages of a server are long: if one does not fit into its row, it is written below.
	widths := t.widths(s)
	room := s.limit() - offset(widths, len(widths)-1)
	for i := range u.Steps {
		message := s.text(u.Steps[i].Message)
		cells := t.rows[i].cells
		switch result := &cells[len(cells)-1]; {
		case message == "":
		case s.limit() <= 0, width(*result+": "+message) <= room:
			*result += ": " + message
		default:
			t.rows[i].addBelow(message, s.limit())
		}
	}
	return t
}

func skipTable(s Style, list []report.UndoSkip) *table {
	t := &table{headers: []string{"NAMESPACE", "OBJECT", "WHY"}}
	for i := 0; i < len(list); {
		x := &list[i]
		alike := 1
		for i+alike < len(list) {
			y := &list[i+alike]
			if x.Message != y.Message || x.Object.Kind != y.Object.Kind || x.Object.APIVersion != y.Object.APIVersion || x.Object.Namespace != y.Object.Namespace {
				break
			}
			alike++
		}
		if alike <= 3 {
			alike = 1
		}
		name := s.name(x.Object)
		if alike > 1 {
			name += " and " + strconv.Itoa(alike-1) + " more"
		}
		t.add("", s.text(x.Object.Namespace), name, s.text(x.Message))
		i += alike
	}
	dropCommonNamespace(t, list, func(x *report.UndoSkip) object.Ref { return x.Object })
	return t
}

func droppedTable(s Style, u *report.Undo) *table {
	t := &table{headers: []string{"OBJECT", "OWNER", "WHY"}}
	add := func(of object.Ref, list []report.DroppedReference) {
		for _, d := range list {
			t.add("", s.name(of), s.name(d.Owner), s.text(d.Message))
		}
	}
	for i := range u.Steps {
		add(u.Steps[i].Object, u.Steps[i].Dropped)
	}
	for i := range u.Skipped {
		add(u.Skipped[i].Object, u.Skipped[i].Dropped)
	}
	return t
}

// changeTable has the fields that are not written as they were saved.
func changeTable(s Style, u *report.Undo) *table {
	t := &table{headers: []string{"N", "OBJECT", "FIELD", "WHY"}}
	for i := range u.Steps {
		x := &u.Steps[i]
		for _, c := range x.Changes {
			t.add("", strconv.Itoa(x.N), s.name(x.Object), s.text(c.Field), s.text(c.Message))
		}
	}
	return t
}

// waitingClaims names each PVC that waits for its volume, and what to do about it. It is written
// before the steps, since nothing else shows that the PVC is not bound.
func (w *writer) waitingClaims(u *report.Undo) {
	s := w.style
	for i := range u.Steps {
		x := &u.Steps[i]
		for _, n := range x.Notes {
			if n.Volume == nil {
				continue
			}
			waits := " waits for "
			if n.Reason == string(reason.VolumeUnknown) {
				waits = " may wait for "
			}
			text := s.nameInNamespace(x.Object) + waits + s.name(*n.Volume) + ": " + s.text(n.Message) + "."
			if n.Release == nil {
				w.prose(text, 2)
				continue
			}
			w.prose(text+" To release it:", 2)
			w.command("  ", *n.Release)
		}
	}
}

var stepWords = map[report.StepState]string{
	report.StepMade:       "made",
	report.StepRestored:   "restored",
	report.StepTaken:      "another one has been created meanwhile; left unchanged",
	report.StepDiffers:    "differs",
	report.StepRefused:    "refused",
	report.StepContended:  "changed since the plan was made; left unchanged",
	report.StepUnknown:    "unknown",
	report.StepSuperseded: "left",
	report.StepNotDone:    "not done",
}

// BackupsText lists backups as text: content, time and whether they were undone.
func BackupsText(out io.Writer, s Style, list *report.Backups) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	t := &table{headers: []string{"NAME", "WHEN", "COMMAND", "WHAT", "UNDONE", "CLUSTER"}}
	for i := range list.Backups {
		b := &list.Backups[i]
		if b.Unreadable != "" {
			t.add("", s.text(b.Name), "-", "-", "-", "-", s.text(b.Unreadable))
			continue
		}
		t.add("", s.text(b.Name), formatMinute(b.Created), s.text(b.Command), backupContent(s, b), undoneAt(b), s.text(b.Server))
	}
	w.table(t)
	return w.done()
}

// backupContent summarizes the content of a backup.
func backupContent(s Style, b *report.Backup) string {
	switch {
	case b.Main == nil:
		return "nothing"
	case b.Objects == 1:
		return s.nameInNamespace(*b.Main)
	}
	return s.nameInNamespace(*b.Main) + " and " + strconv.Itoa(b.Objects-1) + " more"
}

func undoneAt(b *report.Backup) string {
	switch {
	case b.Undone == "":
		return "no"
	case b.Partly:
		return "partly, " + formatMinute(b.Undone)
	}
	return formatMinute(b.Undone)
}

// formatMinute returns an RFC 3339 time without its seconds.
func formatMinute(at string) string {
	if len(at) < len("2026-11-21T22:17") {
		return "-"
	}
	return strings.Replace(at[:len("2026-11-21T22:17")], "T", " ", 1)
}
