package render

import (
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// The words of pictures are those of the texts. They are as the document has them: who
// draws them escapes them.
var raw = Style{manner: verbatim}

// PlanCaption says what a plan is about and what it comes to, as its text does.
func PlanCaption(p *report.Plan) string {
	caused, _ := splitBaseline(p)
	return planHeadline(raw, p, caused)
}

// ExplanationCaption says the verdict on an object, as its text does.
func ExplanationCaption(e *report.Explanation) string {
	return raw.place(e.Object) + " " + verdictPhrase(raw, e.Verdict)
}

// GraphCaption says which part of a graph is shown.
func GraphCaption(g *report.Graph) string {
	if len(g.Roots) == 0 {
		return "Owners and dependents: " + plural(len(g.Nodes), "object") + ", " + plural(len(g.Edges), "owner reference")
	}
	text := "Owners and dependents of " + raw.some(g.Roots, manyTargets)
	if ns, several := namespaces(g.Roots, func(r *report.Ref) report.Ref { return *r }); !several && ns != "" {
		text += " -n " + ns
	}
	return text + ": " + plural(len(g.Nodes), "object")
}

// EffectWhy says why an effect comes about, as the table of a plan does.
func EffectWhy(e *report.Effect) string { return why(raw, *e) }

// EffectNote is what is remarkable about an effect, in a few words: what holds the
// object, that it comes back, that its outcome depends on timing. Mostly it is empty.
func EffectNote(e *report.Effect) string {
	switch {
	case e.DependsOnTiming:
		return "depends on timing"
	case e.AtOnce != "" && len(running(e.Once)) > 0:
		return "once " + controllers(raw, running(e.Once))
	case e.Later == report.Deleted && e.Outcome != report.Blocked:
		return laterNote(e)
	case e.Outcome == report.Blocked && e.BlockedBy != nil:
		return heldBy(*e.BlockedBy)
	case e.RecreatedBy != nil || e.Recreator != "":
		return "comes back"
	}
	return ""
}

// laterNote says when something goes that is not expected to.
func laterNote(e *report.Effect) string {
	for _, r := range e.Once {
		if r.State != report.ControllerRuns {
			return "goes when " + raw.text(r.Finalizer) + " is removed"
		}
	}
	return "goes later"
}

// heldBy is shorter than what the tables say.
func heldBy(by report.BlockedBy) string {
	switch {
	case len(by.Finalizers) > 0:
		return "held by " + raw.firstOf(by.Finalizers)
	case len(by.Dependents) == 1:
		return "waits for " + by.Dependents[0].ShortName()
	case len(by.Dependents) > 1:
		return "waits for " + strconv.Itoa(len(by.Dependents)) + " objects"
	case by.Node != "":
		return "waits for node " + by.Node
	}
	return ""
}

// firstOf is "a/b", or "a/b and 2 more".
func (s Style) firstOf(names []string) string {
	return enumerate([]string{s.text(names[0])}, len(names))
}

// NodeNote is what is remarkable about a vertex of a graph, in a few words.
func NodeNote(n *report.Node) string {
	if len(n.Finalizers) == 0 || !n.BeingDeleted && !n.WaitingForDependents {
		return ""
	}
	return "held by " + raw.firstOf(n.Finalizers)
}

// Place is an object with the namespace that it is in, as kubectl takes them.
func Place(r report.Ref) string { return raw.place(r) }

// Completeness says what was not seen, as the texts do, without the command. It is empty for what is whole.
func Completeness(src report.Source, complete bool, gaps []report.Gap) []string {
	return missing{source: src, complete: complete, gaps: gaps, told: true}.notes(raw)
}

// Takers are the single deletes that take an explained object: each object once, with
// the policies under which its delete does.
func Takers(e *report.Explanation) []string {
	objects, policies := takersByObject(e.TakenBy)
	lines := make([]string, len(objects))
	for i, ref := range objects {
		lines[i] = raw.place(ref) + " (" + policies[ref] + ")"
	}
	return lines
}

// Consequence is what a remedy does, and what it costs.
func Consequence(r report.Remedy) string { return effectText(raw, r) }
