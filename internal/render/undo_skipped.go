package render

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// skippedFirst lists the skipped objects. Those that need attention come first, and none of them is
// hidden: a taken name or a failed read is easily missed among objects that controllers recreate.
func skippedFirst(s Style, skipped []report.UndoSkip) *table {
	list := slices.Clone(skipped)
	slices.SortStableFunc(list, func(a, b report.UndoSkip) int {
		return cmp.Or(routineLast(&a, &b), cmp.Compare(a.Message, b.Message))
	})
	n := slices.IndexFunc(list, func(x report.UndoSkip) bool { return routineSkips[reason.Code(x.Reason)] })
	if n < 0 {
		n = len(list)
	}
	return skipTable(s, list).first(max(manyRunRows, len(skipTable(s, list[:n]).rows)), s)
}

func routineLast(a, b *report.UndoSkip) int {
	switch x, y := routineSkips[reason.Code(a.Reason)], routineSkips[reason.Code(b.Reason)]; {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// routineSkips are harmless reasons, and those reported once for a whole namespace.
var routineSkips = map[reason.Code]bool{
	reason.StillAlive: true, reason.MadeBefore: true, reason.ControllerMakesIt: true, reason.HolderMakesIt: true, reason.PastEvent: true,
	reason.WouldRunAgain: true, reason.NamespaceTerminates: true,
}
