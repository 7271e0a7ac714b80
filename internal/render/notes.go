package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// planNotes returns the notes of a plan, each once. The first screen has only those that put the
// answer in doubt.
func planNotes(s Style, p *report.Plan) []string {
	notes := explorationNotes(s, p)
	if s.isComplete() {
		if p.Rules == "strict" {
			notes = append(notes, "Strict rules: collect deletes less than the cluster's own garbage collector would.")
		}
		var assumptions []string
		for _, e := range p.Effects {
			assumptions = append(assumptions, e.Assumptions...)
		}
		for _, a := range unique(assumptions) {
			notes = append(notes, "Assumed: "+s.text(a)+".")
		}
	}
	switch p.Manager {
	case report.FinalizerControllerGone:
		notes = append(notes, s.paint(red, "kube-controller-manager is not running:")+" its lease has expired. Until it runs again, only what the request itself deletes is deleted.")
	case report.FinalizerControllerUnknown:
		notes = append(notes, s.paint(yellow, "Unknown whether kube-controller-manager is running:")+" its lease is missing or expired. Without it, only what the request itself deletes is deleted.")
	}
	if text := unreadReferrersText(s, p.UnreadReferrers); text != "" && (s.isComplete() || p.Source.Type == "cluster") { // a note about the dump names its missing kinds
		notes = append(notes, text)
	}
	if note := collectorNote(p); note != "" {
		notes = append(notes, note)
	}
	notes = append(append(notes, unlistedNotes(s, p.Unlisted)...), planMissing(p).notes(s)...)
	notes = append(notes, uninstallNotes(s, p)...)
	if p.Digest != "" && s.isComplete() {
		notes = append(notes, "Digest: "+s.text(p.Digest))
	}
	return notes
}

// planNotes writes the notes of a plan, and the commands that keep what deployers delete: that of the first
// target, unless all are asked for.
func (w *writer) planNotes(p *report.Plan) {
	writeNotes(w, planNotes(w.style, p))
	for i, r := range p.Remedies {
		if i > 0 && !w.style.isComplete() {
			break
		}
		w.line()
		if r.Action == report.DeleteAlone {
			w.line("To delete it without what it has deployed:")
		} else {
			w.line("To keep what it has deployed, before the delete:")
		}
		w.command("  ", r)
	}
}

// collectorNote returns a note about the state of the garbage collector that a plan assumes. Empty if
// the state does not matter, or if another note says it.
func collectorNote(p *report.Plan) string {
	const assumed = "Assumed: the garbage collector "
	switch p.Collector {
	case report.CollectorRestarted:
		return assumed + "has just started, continues every unfinished deletion, and remembers nothing."
	case report.CollectorStopped:
		if p.Manager == report.FinalizerControllerGone {
			return ""
		}
		return assumed + "is not running. Until it runs, only what the request itself deletes is deleted."
	case report.CollectorRunning:
		if slices.ContainsFunc(p.Effects, func(e report.Effect) bool { return dependsOnMemory(&e) }) {
			return ""
		}
		note := assumed + "has been running for long, and may have missed a deletion."
		if p.Seed.Verb == "delete" {
			note += " --garbage-collector=restarted of dry-run assumes that it has just started."
		}
		return note
	default:
		return ""
	}
}

// unlistedNotes returns a warning for each controller that deletes, or may delete, more than a document
// lists. Objects with the same reason are named together: if the controller of a finalizer is unknown,
// those with the same finalizer.
func unlistedNotes(s Style, list []report.Unlisted) []string {
	const most = 3
	var notes []string
	type key struct{ controller, reason, message, finalizer string }
	var alike groups[key, report.Unlisted]
	for _, u := range list {
		k := key{u.Controller, u.Reason, u.Message, ""}
		if u.IsDoubt() {
			k.finalizer = u.Finalizer
		}
		alike.add(k, u)
	}
	for i, k := range alike.keys {
		if i == most && !s.isComplete() {
			notes = append(notes, "More may be deleted for "+report.Plural(len(alike.keys)-most, "other reason")+": -o wide.")
			break
		}
		notes = append(notes, s.paint(yellow, "More may be deleted:")+" "+unlistedText(s, alike.of[k])+".")
	}
	return notes
}

// unlistedText says why more may be deleted with the objects of a group.
func unlistedText(s Style, group []report.Unlisted) string {
	u := group[0]
	objects := s.firstOrAll(object.Mapped(group, func(u report.Unlisted) object.Ref { return u.Object }))
	switch reason.Code(u.Reason) {
	case reason.HookUnknown:
		return s.text(u.Message)
	case reason.FinalizerUnknown, reason.ControllerUnread:
		why := ""
		if u.Reason == string(reason.ControllerUnread) {
			why = "; " + s.text(u.Message)
		}
		if u.Controller != "" {
			return "unknown what " + s.text(u.Controller) + " deletes with " + objects + " before it removes " + s.text(u.Finalizer) + why
		}
		return "unknown what removes " + s.text(u.Finalizer) + " of " + objects + ", and what that deletes" + why
	case reason.MadeForIt:
		var others []object.Ref
		for i := range group {
			others = append(others, group[i].Others...)
		}
		text := s.text(u.Controller) + " deletes what it made for " + objects
		if u.Message != "" {
			text += ", " + s.text(u.Message)
		}
		return text + ": " + firstOf(others, s.atMost(4, len(others)), s.namespacedName)
	case reason.MayDeleteOthers:
		return s.text(cmp.Or(u.Controller, "the controller of finalizer "+u.Finalizer)) + " may delete other objects with " + objects + "; " + s.text(u.Message)
	default:
		return s.text(cmp.Or(u.Controller, "the controller of finalizer "+u.Finalizer)) + " deletes other objects with " + objects + "; " + s.text(u.Message)
	}
}

// planMissing returns the missing input of a plan. A collection is only about objects that were
// seen. unlistedNotes says what is unknown about controllers.
func planMissing(p *report.Plan) missingInput {
	u := missingInput{source: p.Source, complete: p.Complete, gaps: p.Gaps, ifIncomplete: "More may be deleted:"}
	if len(p.Unlisted) > 0 && !slices.ContainsFunc(p.Gaps, func(g report.Gap) bool { return g.Matters }) {
		u.complete = true
	}
	switch {
	case p.Seed.Verb == "collect":
		u.ifIncomplete, u.ifComplete = "", "Not counted: garbage of "
	case p.Seed.Policy == "Orphan":
		u.ifIncomplete = "More may be orphaned:"
	}
	return u
}

// dependsOnMemory reports whether an object has another end for a collector that remembers something.
func dependsOnMemory(e *report.Effect) bool {
	return slices.ContainsFunc(e.Otherwise, func(o report.Otherwise) bool { return o.Because == report.Memory })
}

// explorationNotes returns the notes about uncertainty, and whether other schedules were tried.
func explorationNotes(s Style, p *report.Plan) []string {
	timing, memory := false, false
	for i := range p.Effects {
		e := &p.Effects[i]
		remembered := dependsOnMemory(e)
		memory = memory || remembered
		timing = timing || e.DependsOnTiming && (!remembered || e.Otherwise[0].Because == report.Timing)
	}
	var notes []string
	if timing {
		notes = append(notes, s.star()+" depends on timing: another order of the same events has another outcome.")
	}
	if memory {
		notes = append(notes, s.star()+" depends on what the garbage collector remembers, which no snapshot shows.")
	}
	switch e := p.Exploration; {
	case e == nil:
	case e.State == report.TooLarge:
		note := "Not explored: " + report.Plural(e.Objects, "object") + " are within reach, so effects that depend on timing are not marked."
		if p.Seed.Verb == "delete" {
			note += " --explore=10 tries 10 other orders."
		}
		notes = append(notes, note)
	case e.Requested && !timing && e.Schedules > 0:
		notes = append(notes, report.Plural(e.Schedules, "other order")+" of events tried: all end the same.")
	}
	return notes
}

// writeNotes writes notes below a blank line.
func writeNotes(w *writer, notes []string) {
	if len(notes) > 0 {
		w.line()
	}
	for _, n := range notes {
		w.prose(n, 2)
	}
}

// namespacesText returns "namespace shop", or the first few of many.
func namespacesText(s Style, names []string) string {
	if len(names) == 1 {
		return "namespace " + s.text(names[0])
	}
	const most = 3
	text := "namespaces " + s.commaSeparated(names[:min(most, len(names))])
	if len(names) > most {
		text += ", " + s.pick("…", "...")
	}
	return text
}

// gapNamespaces returns " in namespace shop" if every gap is limited to namespaces.
func gapNamespaces(s Style, gaps []report.Gap) string {
	places := make([]string, len(gaps))
	for i, g := range gaps {
		if g.Namespace == "" {
			return ""
		}
		places[i] = g.Namespace
	}
	if places = unique(places); len(places) == 1 {
		return " in namespace " + s.text(places[0])
	}
	return " in " + strconv.Itoa(len(places)) + " namespaces"
}

// sentenceCase starts a sentence with an upper-case letter.
func sentenceCase(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// releaseNotes returns relevant differences between the release of the cluster and the newest one,
// a warning if that release was not tested, and in wide output the rules that were applied.
func releaseNotes(s Style, src report.Source) []string {
	var notes []string
	known := make([]string, len(src.VersionDifferences))
	for i, d := range src.VersionDifferences {
		known[i] = differenceText(s, d)
	}
	other := untestedRelease(s, src)
	cluster := "This cluster is " + releaseText(s, src, minorOf)
	switch {
	case len(known) > 0:
		notes = append(notes, cluster+": "+strings.Join(known, "; ")+"."+other)
	case other != "":
		notes = append(notes, cluster+"."+other)
	}
	if s.isComplete() && src.Rules != "" {
		notes = append(notes, clusterText(s, src)+"; rules of "+s.text(src.Rules)+".")
	}
	return notes
}

// differenceText returns a difference of a release. If it is not certain that the cluster has it,
// the release that ended it is named.
func differenceText(s Style, d report.VersionDifference) string {
	text := s.text(d.Reason)
	if m := reason.Release.Of(reason.Code(d.Reason)); m != nil {
		text = m.Short
	}
	if d.Simulated {
		return text
	}
	return "before " + s.text(d.Before) + " " + text
}

// untestedRelease returns a warning if the release was not tested; empty if it was, or is unknown.
func untestedRelease(s Style, src report.Source) string {
	if src.KubernetesVersion == "" || src.Rules == "" || minorOf(src.KubernetesVersion) == src.Rules {
		return ""
	}
	end := "newest"
	if src.Rules == release.Oldest.String() {
		end = "oldest"
	}
	return " Answers follow the rules of " + s.text(src.Rules) + ", the " + end + " release that this program is tested with; other differences are unknown."
}

// clusterText returns "Cluster v1.27.1 (from a file of the dump)".
func clusterText(s Style, src report.Source) string {
	version := releaseText(s, src, func(exact string) string { return exact })
	if version == "" {
		return "Cluster version unknown"
	}
	var from []string
	for _, f := range src.VersionFrom {
		switch f {
		case "File":
			from = append(from, "from a file of the dump")
		case "Kubelets":
			from = append(from, "by its kubelets")
		case "APIs":
			from = append(from, "by the APIs that it serves")
		}
	}
	text := "Cluster " + version
	if len(from) > 0 {
		text += " (" + strings.Join(from, ", ") + ")"
	}
	return text
}

// releaseText returns the known version of a cluster: v1.27, or v1.27 to v1.30; empty if nothing is
// known.
func releaseText(s Style, src report.Source, shorten func(string) string) string {
	least, most := s.text(src.VersionAtLeast), s.text(src.VersionAtMost)
	switch {
	case src.KubernetesVersion != "":
		return s.text(shorten(src.KubernetesVersion))
	case least == most:
		return least
	case most == "":
		return least + " or newer"
	case least == "":
		return most + " or older"
	default:
		return least + " to " + most
	}
}

// minorOf returns v1.27 for v1.27.1+k3s1.
func minorOf(version string) string {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, found := strings.Cut(rest, ".")
	if !found {
		return version
	}
	return major + "." + minor
}
