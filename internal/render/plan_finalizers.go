package render

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// pendingReleases summarizes effects that wait for finalizers.
type pendingReleases struct {
	// expected are finalizers with running controllers, and afterExpected counts objects deleted
	// once they are removed. unexpected are other finalizers, and afterUnexpected counts objects
	// deleted if those were removed, too.
	expected, unexpected           []report.Release
	afterExpected, afterUnexpected int
}

func pendingReleasesOf(caused []report.Effect) pendingReleases {
	var f pendingReleases
	used := objectsInUse(caused)
	for i := range caused {
		e := &caused[i]
		if e.AtOnce != "" {
			f.afterExpected++
		}
		if e.Later == report.Deleted && e.Outcome != report.Blocked {
			f.afterUnexpected++
		}
		for _, r := range e.Once {
			switch {
			case r.State == report.ControllerRuns && e.AtOnce != "":
				f.expected = addFinalizer(f.expected, r)
			case r.State != report.ControllerRuns && e.Later == report.Deleted:
				if used[r.Object] {
					r.State = stateProtects
				}
				f.unexpected = addFinalizer(f.unexpected, r)
			}
		}
	}
	return f
}

// stateText describes the controllers of finalizers that are not expected to be removed.
func stateText(held []report.Release) string {
	held = slices.DeleteFunc(slices.Clone(held), func(r report.Release) bool { return r.State == stateProtects })
	if len(held) == 0 {
		return "in use"
	}
	if !slices.ContainsFunc(held, func(r report.Release) bool { return r.State != report.ControllerPaused && r.Why == "" }) {
		if slices.ContainsFunc(held, func(r report.Release) bool { return r.Why != held[0].Why }) {
			return "their controllers leave them"
		}
		return held[0].Why
	}
	if slices.ContainsFunc(held, func(r report.Release) bool {
		return r.State != report.ControllerGone && r.State != report.ControllerPaused
	}) {
		if !slices.ContainsFunc(held, func(r report.Release) bool { return r.State != report.ControllerGuards }) {
			return "unknown whether it is in use"
		}
		return "unknown whether its controller is running"
	}
	return "its controller is not running"
}

// stateProtects is the state of a finalizer that stays as long as its object is in use, whether its
// controller runs or not.
const stateProtects report.ControllerState = "Protects"

// objectsInUse returns the objects that are blocked because they are in use.
func objectsInUse(caused []report.Effect) map[object.Ref]bool {
	used := map[object.Ref]bool{}
	for i := range caused {
		if e := &caused[i]; e.Outcome == report.Blocked && e.Reason == string(reason.InUse) {
			used[e.Object] = true
		}
	}
	return used
}

// expectedReleases returns the expected releases.
func expectedReleases(list []report.Release) []report.Release {
	return uniqueFinalizers(slices.DeleteFunc(slices.Clone(list), func(r report.Release) bool { return r.State != report.ControllerRuns }))
}

// uniqueFinalizers returns one release for each finalizer and state of its controller.
func uniqueFinalizers(list []report.Release) []report.Release {
	var kept []report.Release
	for _, r := range list {
		kept = addFinalizer(kept, r)
	}
	return kept
}

// addFinalizer adds a release unless one with the same finalizer and state is in the list.
func addFinalizer(list []report.Release, r report.Release) []report.Release {
	r.Object = object.Ref{}
	if slices.Contains(list, r) {
		return list
	}
	return append(list, r)
}

// maxFinalizers is the number of finalizers that a headline names.
const maxFinalizers = 2

func controllersText(s Style, list []report.Release) string {
	return cmp.Or(s.text(list[0].Controller), "its controller") + " removes " + finalizerNames(s, list)
}

func finalizerNames(s Style, list []report.Release) string {
	return report.FirstNames(object.Mapped(list, func(r report.Release) string { return s.text(r.Finalizer) }), maxFinalizers)
}

// finalizers writes the finalizers to remove, what is lost with them, and the refusals.
func (w *writer) finalizers(p *report.Plan) {
	shown := slices.DeleteFunc(slices.Clone(p.Finalizers), func(f report.PlannedFinalizer) bool {
		return f.Objects == 0 // no object has it, which is why the plan is refused
	})
	if len(shown) > 0 {
		w.line()
	}
	all := len(shown)
	if !w.style.Wide {
		shown = shown[:min(all, maxFinalizers)]
	}
	for _, f := range shown {
		w.prose(w.style.text(f.Name)+" ("+w.style.text(lower(f.Class))+", on "+report.Plural(f.Objects, "object")+"): "+finalizerPurpose(w.style, f)+".", 2)
	}
	if left := all - len(shown); left > 0 {
		w.prose("and "+report.Plural(left, "more finalizer")+": -o wide", 2)
	}
	if w.style.Wide { // otherwise only the error message contains them
		w.titled(w.style.paint(bold, "Refused")+"; nothing would be written:", refusalTable(w.style, p.Refusals))
	}
}

// finalizerPurpose names the controller of a finalizer, and what is lost without its work.
func finalizerPurpose(s Style, f report.PlannedFinalizer) string {
	switch {
	case f.RemovedBy != "":
		return s.text(f.RemovedBy) + " would remove it, " + s.text(f.When) + ". Without it: " + cmp.Or(s.text(f.Without), "nothing is lost")
	case f.Class == "Operator":
		return "the controller of a kind that this cluster serves would remove it after its own cleanup, which this tool does not know"
	default:
		return "unknown which controller removes it, and why it was added"
	}
}

// maxRefusals is the number of refusals in a narrow table.
const maxRefusals = 3

func refusalTable(s Style, list []report.Refusal) *table {
	t := &table{headers: []string{"NAMESPACE", "OBJECT", "FINALIZER", "WHY", "LIFTED BY"}}
	shown := list
	if !s.Wide {
		shown = list[:min(len(list), maxRefusals)]
	}
	for _, r := range shown {
		t.add(outcomeColours[report.Blocked], s.text(r.Object.Namespace), s.name(r.Object), s.text(r.Finalizer), s.text(r.Message), cmp.Or(s.text(r.LiftedBy), "nothing"))
	}
	dropCommonNamespace(t, list, func(r *report.Refusal) object.Ref { return r.Object })
	if left := len(list) - len(shown); left > 0 {
		row := make([]string, len(t.headers))
		row[0] = "and " + strconv.Itoa(left) + " more"
		t.add("", row...)
	}
	return t
}
