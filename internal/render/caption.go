package render

import (
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// rawStyle is the style for the words of pictures. Names are not escaped; the drawing code escapes
// them.
var rawStyle = Style{format: verbatim}

// PlanCaption returns the headline of a plan, as its text has it.
func PlanCaption(p *report.Plan) string {
	caused, _ := splitBaseline(p)
	return planHeadline(rawStyle, p, caused)
}

// ExplanationCaption returns the verdict on an object, as its text has it.
func ExplanationCaption(e *report.Explanation) string {
	return rawStyle.namespacedName(e.Object) + " " + verdictPhrase(rawStyle, e.Verdict)
}

// GraphCaption describes the shown part of a graph.
func GraphCaption(g *report.Graph) string {
	if len(g.Roots) == 0 {
		uses := object.Count(g.Edges, func(e report.Edge) bool { return e.Use != "" })
		text := "Owners and dependents: " + report.Plural(len(g.Nodes), "object") + ", " + report.Plural(len(g.Edges)-uses, "owner reference")
		if uses > 0 {
			text += ", " + report.Plural(uses, "use")
		}
		return text
	}
	text := "Owners and dependents of " + rawStyle.firstRefs(g.Roots, maxTargets)
	if ns, several := namespaces(g.Roots, func(r *object.Ref) object.Ref { return *r }); !several && ns != "" {
		text += " -n " + ns
	}
	return text + ": " + report.Plural(len(g.Nodes), "object")
}

// EffectReason returns the reason of an effect, as the table of a plan has it.
func EffectReason(e *report.Effect) string { return effectReason(rawStyle, *e) }

// EffectNote returns a short note about an effect: what blocks the object, that it is recreated, or
// that its outcome depends on timing. It is usually empty.
func EffectNote(e *report.Effect) string {
	switch {
	case e.DependsOnTiming:
		return "depends on timing"
	case e.AtOnce != "" && len(expectedReleases(e.Once)) > 0:
		return "once " + controllersText(rawStyle, expectedReleases(e.Once))
	case e.Later == report.Deleted && e.Outcome != report.Blocked:
		return laterDeletionNote(e)
	case e.Outcome == report.Blocked && e.BlockedBy != nil:
		return blockedByNote(*e.BlockedBy)
	}
	return recreatedNote(e)
}

// laterDeletionNote returns when an object is deleted later than expected.
func laterDeletionNote(e *report.Effect) string {
	for _, r := range e.Once {
		if r.State != report.ControllerRuns {
			return "deleted when " + rawStyle.text(r.Finalizer) + " is removed"
		}
	}
	return "deleted later"
}

// blockedByNote returns a shorter text than the tables.
func blockedByNote(by report.BlockedBy) string {
	switch {
	case len(by.Finalizers) > 0:
		return "held by " + firstOf(by.Finalizers, 1, rawStyle.text)
	case len(by.Dependents) == 1:
		return "waits for " + by.Dependents[0].ShortName()
	case len(by.Dependents) > 1:
		return "waits for " + strconv.Itoa(len(by.Dependents)) + " objects"
	case by.Node != "":
		return "waits for node " + by.Node
	}
	return ""
}

// NodeNote returns a short note about a vertex of a graph: its finalizers if it is being deleted.
func NodeNote(n *report.Node) string {
	if len(n.Finalizers) == 0 || !n.BeingDeleted && !n.WaitingForDependents {
		return ""
	}
	return "held by " + firstOf(n.Finalizers, 1, rawStyle.text)
}

// NamespacedName returns an object with its namespace, in kubectl's syntax.
func NamespacedName(r object.Ref) string { return rawStyle.namespacedName(r) }

// Completeness returns the notes about missing input, without the command to read it. It is empty
// if the input is complete.
func Completeness(src report.Source, complete bool, gaps []report.Gap) []string {
	return missingInput{source: src, complete: complete, gaps: gaps, commandShown: true}.notes(rawStyle)
}

// DeletesThatTake returns the single deletes that delete an explained object: each target once,
// with the policies that do.
func DeletesThatTake(e *report.Explanation) []string {
	objects, policies := takersByObject(e.TakenBy)
	return object.Mapped(objects, func(ref object.Ref) string {
		return rawStyle.namespacedName(ref) + " (" + policies[ref] + ")"
	})
}

// RemedyEffect returns the effect and the cost of a remedy.
func RemedyEffect(r report.Remedy) string { return remedyEffect(rawStyle, r) }
