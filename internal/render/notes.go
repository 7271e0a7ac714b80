package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// planNotes say what a plan rests on, each thing once. The first screen says only what
// puts this answer in doubt.
func planNotes(s Style, p *report.Plan) []string {
	notes := explorationNotes(s, p)
	if s.all() {
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
	}
	notes = append(notes, completeness(s, p.Source, p.Complete, p.Gaps)...)
	if p.Digest != "" && s.all() {
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

// completeness says whether something that was not seen could change the answer, and
// what was not seen. Where it could not, only a wide text says that something was not.
func completeness(s Style, src report.Source, complete bool, gaps []report.Gap) []string {
	notes := releaseNotes(s, src)
	if len(src.Namespaces) > 0 && (s.all() || !complete) {
		notes = append(notes, "Searched: "+namespacesText(s, src.Namespaces)+" and cluster-scoped objects.")
	}
	switch {
	case !complete && len(gaps) == 0:
		notes = append(notes, s.paint(bold, "Incomplete:")+" part of this is not known.")
	case !complete:
		notes = append(notes, s.paint(bold, "Incomplete:")+" "+gapText(s, src, gaps))
	case len(gaps) > 0 && s.all():
		notes = append(notes, "Not seen, without consequences for this answer: "+gapText(s, src, gaps))
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
	most := 2
	if s.all() {
		most = len(resources)
	}
	noun := plural(len(resources), "kind")
	names := " (" + enumerate(strings.Split(s.texts(resources[:min(most, len(resources))]), ", "), len(resources)) + ")" + gapPlaces(s, gaps)
	if src.Type == "cluster" {
		return noun + " could not be read" + names + "; kubectl gc rbac prints the permissions."
	}
	verb := " are"
	if len(resources) == 1 {
		verb = " is"
	}
	return noun + verb + " not in the dump" + names + "; what they own or hold is not shown."
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
