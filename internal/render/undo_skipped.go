package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// skippedTable lists the skipped objects. Those that need attention come first, and none of them is
// hidden: a taken name or a failed read is easily missed among objects that controllers recreate.
func skippedTable(s Style, skipped []report.UndoSkip) *table {
	list := slices.Clone(skipped)
	slices.SortStableFunc(list, func(a, b report.UndoSkip) int {
		x, y := routineSkips[reason.Code(a.Reason)], routineSkips[reason.Code(b.Reason)]
		return cmp.Or(object.TrueFirst(!x, !y), cmp.Compare(a.Message, b.Message))
	})
	n := slices.IndexFunc(list, func(x report.UndoSkip) bool { return routineSkips[reason.Code(x.Reason)] })
	if n < 0 {
		n = len(list)
	}
	return skipTable(s, list).first(max(maxRunRows, len(skipTable(s, list[:n]).rows)), s)
}

// routineSkips are harmless reasons, and those reported once for a whole namespace.
var routineSkips = map[reason.Code]bool{
	reason.StillAlive: true, reason.MadeBefore: true, reason.ControllerMakesIt: true, reason.HolderMakesIt: true, reason.PastEvent: true,
	reason.WouldRunAgain: true, reason.NamespaceTerminates: true,
}

// skipsFor counts the objects that are skipped for a reason.
func skipsFor(u *report.Undo, why reason.Code) int {
	return object.Count(u.Skipped, func(u report.UndoSkip) bool { return u.Reason == string(why) })
}

// differences writes the differing fields of objects that exist again, with the values if the
// document has them.
func (w *writer) differences(u *report.Undo) {
	has := func(list []report.FieldDifference) bool { return len(list) > 0 && !list[0].Hidden }
	shown := slices.ContainsFunc(u.Skipped, func(x report.UndoSkip) bool { return has(x.Differences) }) ||
		slices.ContainsFunc(u.Steps, func(x report.UndoStep) bool { return has(x.Differences) })
	headed := false
	add := func(of object.Ref, list []report.FieldDifference) {
		if len(list) == 0 {
			return
		}
		if !headed {
			w.line()
			text := "Objects that exist again and differ from the saved version (- now, + saved):"
			if !shown {
				text = "Objects that exist again and differ from the saved version (--diff shows how, except for Secrets):"
			}
			w.prose(text, 2)
			headed = true
		}
		w.line()
		if list[0].Hidden {
			w.prose(w.style.nameInNamespace(of)+": "+hiddenPaths(w.style, list), 2)
			return
		}
		w.line(w.style.nameInNamespace(of))
		for i := range list {
			w.difference(&list[i])
		}
	}
	for i := range u.Skipped {
		add(u.Skipped[i].Object, u.Skipped[i].Differences)
	}
	for i := range u.Steps {
		if u.Steps[i].State != report.StepRestored { // otherwise nothing differs any more
			add(u.Steps[i].Object, u.Steps[i].Differences)
		}
	}
}

// difference writes a field with both values as a diff. Common lines at the start and the end are
// left out.
func (w *writer) difference(d *report.FieldDifference) {
	s := w.style
	now, saved := valueLines(d.Now), valueLines(d.Saved)
	for len(now) > 0 && len(saved) > 0 && now[0] == saved[0] {
		now, saved = now[1:], saved[1:]
	}
	for len(now) > 0 && len(saved) > 0 && now[len(now)-1] == saved[len(saved)-1] {
		now, saved = now[:len(now)-1], saved[:len(saved)-1]
	}
	w.line("  ", s.text(d.Path), ":")
	for _, line := range now {
		w.line("  ", s.paint(red, "- "+s.text(line)))
	}
	for _, line := range saved {
		w.line("  ", s.paint(green, "+ "+s.text(line)))
	}
}

// maxPaths is the number of fields of an object on a first screen.
const maxPaths = 5

// hiddenPaths returns the paths of fields without shown values.
func hiddenPaths(s Style, list []report.FieldDifference) string {
	most := maxPaths
	if s.Wide {
		most = len(list)
	}
	return report.FirstNames(object.Mapped(list, func(d report.FieldDifference) string { return s.text(d.Path) }), most)
}

func valueLines(value *string) []string {
	if value == nil {
		return nil
	}
	return strings.Split(*value, "\n")
}
