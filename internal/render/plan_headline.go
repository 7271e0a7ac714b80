package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// planHeadline returns the answer in a sentence: the number of deleted objects, and whether the
// deletion finishes.
func planHeadline(s Style, p *report.Plan, caused []report.Effect) string {
	head := requestText(s, p.Seed)
	if p.Seed.Uninstall != nil {
		head += " -n " + s.text(p.Seed.Uninstall.Namespace)
	} else if ns, several := namespaces(p.Seed.Targets, func(r *object.Ref) object.Ref { return *r }); several {
		head += " in several namespaces"
	} else if ns != "" {
		head += " -n " + s.text(ns)
	}
	if p.Seed.Policy != "" && p.Seed.Policy != "Background" {
		head += " (" + s.text(lower(p.Seed.Policy)) + ")"
	}
	return head + ": " + verdict(s, p, withoutEvents(p, caused))
}

// verdict summarizes the effects.
func verdict(s Style, p *report.Plan, caused []report.Effect) string {
	refused := func(e report.Effect) bool { return e.Reason == string(reason.RequestRefused) }
	switch {
	case len(caused) > 0 && !slices.ContainsFunc(caused, func(e report.Effect) bool { return !refused(e) }):
		return s.paint(outcomeColours[report.Kept], "refused by the API server; nothing would be deleted")
	case len(caused) == 0 && p.Complete:
		return "nothing changes"
	case len(caused) == 0:
		return "nothing is known to change"
	}
	verb := " would be deleted"
	if p.Seed.Verb == "collect" {
		verb = " would be deleted as garbage"
	}
	if p.Manager == report.FinalizerControllerUnknown && slices.ContainsFunc(caused, func(e report.Effect) bool {
		return e.Outcome == report.Deleted && e.Reason != string(reason.Requested)
	}) {
		verb += " if kube-controller-manager is running"
	}
	counts, ending := map[report.Outcome]int{}, 0
	terminating := terminatingIn(caused)
	for i := range caused {
		if e := &caused[i]; p.Seed.Verb == "collect" && e.Outcome == report.Deleted && terminating(e) {
			ending++
			continue
		}
		counts[caused[i].Outcome]++
	}
	var parts []string
	switch n := counts[report.Deleted]; {
	case n > 0:
		parts = append(parts, s.paint(outcomeColours[report.Deleted], report.Plural(n, "object")+verb))
	case counts[report.Blocked] == 0:
		parts = append(parts, "nothing would be deleted")
	}
	if ending > 0 {
		parts = append(parts, report.Plural(ending, "object")+pluralForm(ending, " is", " are")+" already terminating")
	}
	if n := counts[report.Blocked]; n > 0 {
		parts = append(parts, s.paint(outcomeColours[report.Blocked], blockedText(s, p, caused, n, len(parts) > 0)))
	}
	for _, o := range []struct {
		outcome report.Outcome
		text    string
	}{
		{report.Orphaned, "would be orphaned"}, {report.Pruned, "would lose an owner reference"}, {report.Kept, "would stay"}, {report.Unknown, "unknown"},
	} {
		if n := counts[o.outcome]; n > 0 {
			parts = append(parts, s.paint(outcomeColours[o.outcome], strconv.Itoa(n)+" "+o.text))
		}
	}
	if n := unlistedObjects(p.Unlisted); n > 0 {
		parts = append(parts, s.paint(yellow, strconv.Itoa(n)+" of them may take others with "+pluralForm(n, "it", "them")))
	}
	return strings.Join(parts, "; ")
}

// unlistedObjects counts the objects whose controllers delete more than the plan lists. It excludes those
// with controllers that are not known to exist: they are among those that may hang.
func unlistedObjects(list []report.Unlisted) int {
	objects := map[object.Ref]bool{}
	for i := range list {
		if !list[i].IsDoubt() {
			objects[list[i].Object] = true
		}
	}
	return len(objects)
}

// blockedText describes the blocked objects, and whether targets are among them.
func blockedText(s Style, p *report.Plan, caused []report.Effect, n int, after bool) string {
	held := !slices.ContainsFunc(caused, func(e report.Effect) bool { return e.Outcome == report.Blocked && e.Consequence != nil })
	switch {
	case p.Seed.Verb == "collect" && after && held:
		return alreadyHeldText(s, p, n)
	case p.Seed.Verb == "collect" && !after:
		return "nothing would be deleted; " + alreadyHeldText(s, p, n)
	}
	then := ""
	if after {
		then = " then"
	}
	open, undecided := undecidedReleases(p, caused)
	asked := targetsOf(p)
	sure := object.Count(caused, func(e report.Effect) bool { return e.Outcome == report.Blocked && asked[e.Object] })
	sure -= undecided.targets
	all := len(p.Seed.Targets)
	switch {
	case sure > 0 && all == 1:
		return "it would" + then + " HANG"
	case sure > 0:
		return strconv.Itoa(sure) + " of " + strconv.Itoa(all) + " would" + then + " HANG"
	case undecided.targets > 0 && all == 1:
		return "it may" + then + " hang: " + undecidedText(s, open)
	case undecided.targets > 0:
		return strconv.Itoa(undecided.targets) + " of " + strconv.Itoa(all) + " may" + then + " hang: " + undecidedText(s, open)
	case n > undecided.objects && undecided.objects > 0:
		return report.Plural(n-undecided.objects, "object") + " would" + then + " HANG, " + strconv.Itoa(undecided.objects) + " may"
	case n > undecided.objects:
		return report.Plural(n, "object") + " would" + then + " HANG"
	}
	return report.Plural(n, "object") + " may" + then + " hang: " + undecidedText(s, open)
}

// alreadyHeldText counts the objects that are being deleted and held before a collection.
func alreadyHeldText(s Style, p *report.Plan, n int) string {
	namespace := ""
	if len(p.Source.Namespaces) == 1 {
		namespace = p.Source.Namespaces[0]
	}
	return report.Plural(n, "object") + pluralForm(n, " is", " are") + " already being deleted and held: " + s.gcIn(namespace, "stuck")
}

// undecidedCounts counts the objects that may or may not hang, and the targets among them.
type undecidedCounts struct{ objects, targets int }

// undecidedReleases returns the finalizers that decide whether objects hang.
func undecidedReleases(p *report.Plan, caused []report.Effect) (open []report.Release, n undecidedCounts) {
	asked, mayHang := targetsOf(p), p.MayHang()
	for i := range caused {
		releases := mayHang[caused[i].Object]
		if len(releases) == 0 {
			continue
		}
		n.objects++
		if asked[caused[i].Object] {
			n.targets++
		}
		for _, r := range releases {
			open = addFinalizer(open, r)
		}
	}
	return open, n
}

// undecidedText names the controllers with unknown state.
func undecidedText(s Style, open []report.Release) string {
	first := open[0]
	several := len(open) > 1
	name := first.Controller
	switch {
	case !several && first.State == report.ControllerGuards:
		return "unknown whether it is in use"
	case !several && first.Why != "":
		return s.text(first.Why)
	case name == "" && several:
		name = "the controllers that remove " + first.Finalizer
	case name == "":
		name = "the controller that removes " + first.Finalizer
	}
	if several {
		return "unknown whether " + s.text(name) + " and " + strconv.Itoa(len(open)-1) + " more are running"
	}
	return "unknown whether " + s.text(name) + " is running"
}

// terminatingIn returns a function that reports whether an effect of a collection is no garbage, because
// the object is being deleted or goes with one that is. With -n, the plan lacks the namespace that is
// being deleted.
//
//	ns/shop is being deleted → svc/web goes with ns/shop → ipaddress/10.0.0.7 goes with svc/web
func terminatingIn(caused []report.Effect) func(*report.Effect) bool {
	effects := make(map[object.Ref]*report.Effect, len(caused))
	for i := range caused {
		effects[caused[i].Object] = &caused[i]
	}
	return func(e *report.Effect) bool {
		for range caused { // an end for a cycle
			switch {
			case e.Reason == reason.BeingDeleted.String(), e.Reason == reason.NoBlockingDependents.String():
				return true
			case e.Reason != string(reason.DeletedByController), len(e.Because) == 0:
				return false
			}
			cause := e.Because[0]
			if e = effects[cause]; e == nil {
				return cause.Is(object.Namespace)
			}
		}
		return false
	}
}
