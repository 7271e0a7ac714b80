package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// planNotes says what the answer rests on, each thing once.
func planNotes(w *writer, p *report.Plan) { writeNotes(w, planRemarks(w.style, p)) }

func planRemarks(s Style, p *report.Plan) []string {
	var notes []string
	notes = append(notes, explorationNotes(s, p)...)
	if p.Rules == "strict" {
		notes = append(notes, "Strict rules: what collect does, which is less than what the cluster's own garbage collector would do.")
	}
	var assumptions []string
	for _, e := range p.Effects {
		assumptions = append(assumptions, e.Assumptions...)
	}
	for _, a := range unique(assumptions) {
		notes = append(notes, "Assumed: "+s.text(a)+".")
	}
	notes = append(notes, completeness(s, p.Source, p.Complete, p.Gaps)...)
	if p.Digest != "" {
		notes = append(notes, "Digest: "+s.text(p.Digest))
	}
	return notes
}

// explorationNotes say what is not certain, and whether it was tried to find out.
func explorationNotes(s Style, p *report.Plan) []string {
	timing, memory := false, false
	for i := range p.Effects {
		e := &p.Effects[i]
		remembered := slices.ContainsFunc(e.Otherwise, func(o report.Otherwise) bool { return o.Because == report.Memory })
		memory = memory || remembered
		timing = timing || e.DependsOnTiming && (!remembered || e.Otherwise[0].Because == report.Timing)
	}
	var notes []string
	if timing {
		notes = append(notes, s.star()+" depends on timing: another order of the same events ends differently.")
	}
	if memory {
		notes = append(notes, s.star()+" depends on what the garbage collector remembers from before: no snapshot shows it.")
	}
	switch e := p.Exploration; {
	case e == nil:
	case e.State == report.TooLarge:
		note := "Not explored: " + plural(e.Objects, "object") + " are within reach, so that what depends on timing is not marked."
		if p.Seed.Verb == "delete" {
			note += " --explore=10 tries 10 other orders."
		}
		notes = append(notes, note)
	case e.Requested && !timing && e.Schedules > 0:
		notes = append(notes, plural(e.Schedules, "other order")+" of events tried: all end the same.")
	}
	return notes
}

// writeNotes sets the notes apart from what is above them.
func writeNotes(w *writer, notes []string) {
	if len(notes) > 0 {
		w.line()
	}
	for _, n := range notes {
		w.prose(n, 2)
	}
}

// completeness says whether the answer is whole, and what was not seen.
func completeness(s Style, src report.Source, complete bool, gaps []report.Gap) []string {
	var notes []string
	if len(src.Namespaces) > 0 {
		notes = append(notes, "Searched: "+namespacesText(s, src.Namespaces)+" and cluster-scoped objects.")
	}
	if !complete {
		notes = append(notes, s.paint(bold, "Incomplete:")+" some of this depends on what "+seenIn(src)+" does not show.")
	}
	if len(gaps) > 0 {
		notes = append(notes, gapText(s, src, gaps))
	}
	return notes
}

// namespacesText is "namespace shop", or the first few of many.
func namespacesText(s Style, names []string) string {
	if len(names) == 1 {
		return "namespace " + s.text(names[0])
	}
	const most = 3
	text := "namespaces " + s.texts(names[:min(most, len(names))])
	if len(names) > most {
		text += ", " + s.pick("…", "...")
	}
	return text
}

// seenIn names what was looked at.
func seenIn(src report.Source) string {
	if src.Type == "cluster" {
		return "the snapshot of the cluster"
	}
	return "the dump"
}

// gapText compresses the gaps to one sentence: there may be hundreds of them.
func gapText(s Style, src report.Source, gaps []report.Gap) string {
	resources := make([]string, len(gaps))
	for i, g := range gaps {
		resources[i] = g.Resource
		if group := object.GroupOf(g.APIVersion); group != "" {
			resources[i] += "." + group
		}
	}
	resources = unique(resources)
	noun := plural(len(resources), "kind")
	const most = 3
	names := s.texts(resources[:min(most, len(resources))])
	if len(resources) > most {
		names += ", " + s.pick("…", "...")
	}
	intro := "Not in the dump: "
	if src.Type == "cluster" {
		intro = "Could not read: "
	}
	return intro + noun + " (" + names + ")" + gapPlaces(s, gaps) + "; dependents of these kinds are not shown. See -o json."
}

// gapPlaces is " in namespace shop" when no gap is the whole cluster.
func gapPlaces(s Style, gaps []report.Gap) string {
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
