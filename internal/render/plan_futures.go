package render

import (
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// futureText says in a headline what waits for finalizers: what goes once controllers
// that run take theirs off, and what would go if others came off, too.
func futureText(s Style, caused []report.Effect) string {
	var soon, held []report.Release
	goSoon, goLater := 0, 0
	used := inUse(caused)
	for i := range caused {
		e := &caused[i]
		if e.AtOnce != "" {
			goSoon++
		}
		if e.Later == report.Deleted && e.Outcome != report.Blocked {
			goLater++
		}
		for _, r := range e.Once {
			switch {
			case r.State == report.ControllerRuns && e.AtOnce != "":
				soon = addFinalizer(soon, r)
			case r.State != report.ControllerRuns && e.Later == report.Deleted:
				if used[r.Object] {
					r.State = protects
				}
				held = addFinalizer(held, r)
			}
		}
	}
	text := ""
	switch {
	case len(soon) == 0:
	case goSoon == len(caused):
		text += ", once " + controllers(s, soon)
	default:
		text += "; " + strconv.Itoa(goSoon) + " of that once " + controllers(s, soon)
	}
	if len(held) == 0 {
		return text
	}
	if goLater > 0 {
		text += "; " + strconv.Itoa(goLater) + " more go when " + finalizerNames(s, held) + " comes off"
	} else {
		text += "; held by " + finalizerNames(s, held)
	}
	return text + " (" + stateText(held) + ")"
}

// stateText says of finalizers that are not expected to come off what is known of their
// controllers.
func stateText(held []report.Release) string {
	held = slices.DeleteFunc(slices.Clone(held), func(r report.Release) bool { return r.State == protects })
	if len(held) == 0 {
		return "in use"
	}
	if slices.ContainsFunc(held, func(r report.Release) bool { return r.State != report.ControllerGone }) {
		return "not known whether its controller runs"
	}
	return "its controller does not run"
}

// protects is the state of a finalizer that stays for as long as its object is in use:
// whether its controller runs is not what it waits for.
const protects report.ControllerState = "Protects"

// inUse are the objects that wait for who uses them.
func inUse(caused []report.Effect) map[report.Ref]bool {
	used := map[report.Ref]bool{}
	for i := range caused {
		if e := &caused[i]; e.Outcome == report.Blocked && e.Reason == "InUse" {
			used[e.Object] = true
		}
	}
	return used
}

// running keeps the releases that are expected.
func running(list []report.Release) []report.Release {
	return finalizersOf(slices.DeleteFunc(slices.Clone(list), func(r report.Release) bool { return r.State != report.ControllerRuns }))
}

// finalizersOf keeps one release for each finalizer and what is known of its controller.
func finalizersOf(list []report.Release) []report.Release {
	var kept []report.Release
	for _, r := range list {
		kept = addFinalizer(kept, r)
	}
	return kept
}

// addFinalizer keeps one release for each finalizer and what is known of its controller.
func addFinalizer(list []report.Release, r report.Release) []report.Release {
	r.Object = report.Ref{}
	if slices.Contains(list, r) {
		return list
	}
	return append(list, r)
}

// manyFinalizers is how many finalizers a headline names.
const manyFinalizers = 2

func controllers(s Style, list []report.Release) string {
	who := "its controller"
	if list[0].Controller != "" {
		who = s.text(list[0].Controller)
	}
	return who + " removes " + finalizerNames(s, list)
}

func finalizerNames(s Style, list []report.Release) string {
	text := ""
	for i, r := range list {
		switch {
		case i == manyFinalizers:
			return text + " and " + strconv.Itoa(len(list)-i) + " more"
		case i > 0:
			text += ", "
		}
		text += s.text(r.Finalizer)
	}
	return text
}
