package render

import (
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// raw is the style for the words of pictures. Names are not escaped; the drawing code escapes them.
var raw = Style{manner: verbatim}

// PlanCaption returns the headline of a plan, as its text has it.
func PlanCaption(p *report.Plan) string {
	caused, _ := splitBaseline(p)
	return planHeadline(raw, p, caused)
}

// ExplanationCaption returns the verdict on an object, as its text has it.
func ExplanationCaption(e *report.Explanation) string {
	return raw.place(e.Object) + " " + verdictPhrase(raw, e.Verdict)
}

// GraphCaption describes the shown part of a graph.
func GraphCaption(g *report.Graph) string {
	if len(g.Roots) == 0 {
		return "Owners and dependents: " + plural(len(g.Nodes), "object") + ", " + plural(len(g.Edges), "owner reference")
	}
	text := "Owners and dependents of " + raw.some(g.Roots, manyTargets)
	if ns, several := namespaces(g.Roots, func(r *object.Ref) object.Ref { return *r }); !several && ns != "" {
		text += " -n " + ns
	}
	return text + ": " + plural(len(g.Nodes), "object")
}

// EffectWhy returns the reason of an effect, as the table of a plan has it.
func EffectWhy(e *report.Effect) string { return why(raw, *e) }

// EffectNote returns a short note about an effect: what blocks the object, that it is recreated, or
// that its outcome depends on timing. It is usually empty.
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

// laterNote returns when an object is deleted later than expected.
func laterNote(e *report.Effect) string {
	for _, r := range e.Once {
		if r.State != report.ControllerRuns {
			return "goes when " + raw.text(r.Finalizer) + " is removed"
		}
	}
	return "goes later"
}

// heldBy returns a shorter text than the tables.
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

// firstOf returns "a/b", or "a/b and 2 more".
func (s Style) firstOf(names []string) string {
	return enumerate([]string{s.text(names[0])}, len(names))
}

// NodeNote returns a short note about a vertex of a graph: its finalizers if it is being deleted.
func NodeNote(n *report.Node) string {
	if len(n.Finalizers) == 0 || !n.BeingDeleted && !n.WaitingForDependents {
		return ""
	}
	return "held by " + raw.firstOf(n.Finalizers)
}

// Place returns an object with its namespace, in kubectl's syntax.
func Place(r object.Ref) string { return raw.place(r) }

// Completeness returns the notes about missing input, without the command to read it. It is empty
// if the input is complete.
func Completeness(src report.Source, complete bool, gaps []report.Gap) []string {
	return missing{source: src, complete: complete, gaps: gaps, told: true}.notes(raw)
}

// Takers returns the single deletes that delete an explained object: each target once, with the
// policies that do.
func Takers(e *report.Explanation) []string {
	objects, policies := takersByObject(e.TakenBy)
	lines := make([]string, len(objects))
	for i, ref := range objects {
		lines[i] = raw.place(ref) + " (" + policies[ref] + ")"
	}
	return lines
}

// Consequence returns the effect and the cost of a remedy.
func Consequence(r report.Remedy) string { return effectText(raw, r) }
