package render

import (
	"path/filepath"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// maxRequests is the number of deletes that an undo names.
const maxRequests = 3

// lostRequests writes the deletes that an undo reverts.
func (w *writer) lostRequests(l *lossIndex) {
	list := requestsByImpact(l)
	for i, r := range list {
		if i == maxRequests-1 && len(list) > maxRequests {
			w.prose("and "+moreRequests(list[i:])+": "+w.style.gcIn(l.Namespace, "lost"), 2)
			break
		}
		w.briefRequest(l, r)
	}
}

// undoLostNotes returns the notes of an undo of the past: its backup, what can't be read yet, and
// the start of the history.
func undoLostNotes(s Style, u *report.Undo) []string {
	var notes []string
	if u.Bundle != "" {
		text := "Saved as backup " + s.text(filepath.Base(u.Bundle))
		if u.Lost.Source.Type == "cluster" {
			text += ": the API server forgets it in minutes, the backup stays"
		}
		if n := restoredSecrets(u); n > 0 {
			text += ". It has the content of the " + report.Plural(n, "Secret") + " to be restored"
		}
		notes = append(notes, text+".")
	}
	return append(notes, lostNotes(s, indexLosses(u.Lost))...)
}

// latestVersions returns an undo without earlier versions of its objects, and the objects that had
// some.
func latestVersions(u *report.Undo) (latest *report.Undo, twice []object.Ref) {
	earlier := func(x report.UndoSkip) bool { return x.Reason == string(reason.ListedTwice) }
	had := map[object.Ref]bool{}
	for i := range u.Skipped {
		if earlier(u.Skipped[i]) {
			had[u.Skipped[i].Object.WithoutUID()] = true
		}
	}
	if len(had) == 0 {
		return u, nil
	}
	for i := range u.Steps {
		x := &u.Steps[i]
		if ref := x.Object.WithoutUID(); x.State == report.StepPlanned && x.Verb == "Create" && had[ref] {
			twice = append(twice, ref)
		}
	}
	c := *u
	c.Skipped = slices.DeleteFunc(slices.Clone(u.Skipped), earlier)
	c.Summary.Skipped -= len(u.Skipped) - len(c.Skipped)
	return &c, twice
}

// nextUndo writes what is restored only after this undo, and how.
func (w *writer) nextUndo(u *report.Undo) {
	s, l := w.style, u.Later
	text := "The API server shows the objects of " + s.summarizeRefs(l.CRDs, s.limit()/2) + " once " + pluralForm(len(l.CRDs), "it is", "they are") + " back"
	if l.Remembered != "" {
		text += ", and remembers them until " + clockText(s, indexLosses(u.Lost), report.Moment{Time: l.Remembered}) + " UTC at least"
	}
	w.line()
	w.prose(text+". An interactive run continues with them when this is done; otherwise, to bring them back then:", 2)
	w.command("  ", l.Then)
	text = ""
	if n := l.Dependents; n > 0 {
		text = report.Plural(n, "object") + " that " + pluralForm(n, "belongs", "belong") + " to them " + pluralForm(n, "is", "are") +
			" still there: the garbage collector may delete " + pluralForm(n, "it", "them") + " before that. "
	}
	if l.Saved != "" {
		text += "Everything else that would be restored is saved: " + s.gc("undo "+l.Saved)
	}
	if text != "" {
		w.prose(text, 2)
	}
}

// nothingToUndo returns the answer of an undo of the past without any loss to restore.
func nothingToUndo(s Style, u *report.Undo) string {
	l := indexLosses(u.Lost)
	if len(l.Losses) == 0 {
		return nothingLost(s, l)
	}
	where := ""
	if l.Namespace != "" {
		where = " in namespace " + s.text(l.Namespace)
	}
	return "Everything deleted" + where + " since " + momentText(s, l, l.From) +
		" was deleted by controllers of Kubernetes. An undo leaves that to them unless you name one object. Details: " + s.gcIn(l.Namespace, "lost -o wide") + "."
}

// olderLosses writes what was deleted before the given time span, and how to restore it.
func (w *writer) olderLosses(u *report.Undo) {
	s, l, o := w.style, indexLosses(u.Lost), u.Older
	text := s.nameInNamespace(o.Last) + " was deleted at " + momentText(s, l, o.At) + ", before that."
	it := "it"
	if o.Objects > 1 {
		text = report.Plural(o.Objects, "object") + " were deleted before that, the last one at " + momentText(s, l, o.At) + "."
		it = "them"
	}
	if o.Then == nil {
		w.prose(text, 2)
		return
	}
	if o.Then.Action == report.BringBack {
		text += " To bring " + it + " back:"
	}
	w.prose(text, 2)
	w.command("  ", *o.Then)
}

// restoredSecrets counts the recreated Secrets.
func restoredSecrets(u *report.Undo) int {
	n := 0
	for i := range u.Steps {
		if x := &u.Steps[i]; x.Object.Is(object.Secret) && x.Verb == "Create" {
			n++
		}
	}
	return n
}
