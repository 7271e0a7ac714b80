package render

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// explanationUnseen returns the notes about missing input of an explanation. If the only
// consequence is a specific open question, it names that.
func explanationUnseen(s Style, e *report.Explanation) []string {
	u := missing{source: e.Source, complete: e.Complete, gaps: e.Gaps}
	u.told = slices.ContainsFunc(e.Remedies, func(r report.Remedy) bool { return r.Action == report.ShowKinds })
	matter, _ := u.split()
	var open, lists []string
	for _, g := range matter {
		text := openQuestion(s, e, g)
		if text == "" {
			return u.notes(s)
		}
		open = append(open, text)
		lists = append(lists, kindsOf([]report.Gap{g})[0].name)
	}
	if len(open) == 0 || s.all() {
		return u.notes(s)
	}
	text := "Whether " + strings.Join(open, ", and whether ") + " is not known: "
	if e.Source.Type == "cluster" {
		return []string{text + strings.Join(lists, " and ") + " could not be read" + whyUnread(s, matter)}
	}
	return []string{text + "the dump has no " + strings.Join(lists, " and no ") + ".", toGather(s, kindsOf(matter))}
}

// openQuestion returns the only question that the objects of a gap can decide for an object that
// stays or is garbage; empty if there may be others.
func openQuestion(s Style, e *report.Explanation, g report.Gap) string {
	group := object.GroupOf(g.APIVersion)
	switch {
	case e.Verdict != report.Live && e.Verdict != report.Garbage:
	case group == "" && g.Resource == "namespaces" && e.Object.Namespace != "":
		return "namespace " + s.text(e.Object.Namespace) + " is being deleted"
	case group == "" && g.Resource == "nodes" && e.Object.Is(object.Pod):
		return "its node still exists"
	case group == object.CRD.Group && g.Resource == object.CRD.Plural:
		return "its CRD is being deleted"
	}
	return ""
}
