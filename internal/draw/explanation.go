package draw

import (
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// OfExplanation draws an object with all its owners, its dependents, and what it waits for. The
// graph must contain these objects and the references between them.
func OfExplanation(e *report.Explanation, g *report.Graph, o Options) *Scene {
	f := figuresOf(g, []report.Ref{e.Object})
	x := f.of(e.Object)
	x.target, x.why = true, e.Message
	if x.why == "" {
		x.why = reason.Short(e.Reason)
	}
	if e.Verdict == report.Garbage {
		x.note = "garbage"
	}
	for _, owner := range e.Owners {
		if i, ok := f.nodes.at(owner.Ref); ok && owner.Ref != e.Object {
			f.list[i].why = owner.Evidence
		}
	}
	return compose(render.ExplanationCaption(e), f, wordsOf(e.Source, asSeen), o).noting(e.Source, e.Complete, e.Gaps)
}

// Concerned returns the objects of an explanation: the object itself, all its owners, its
// dependents, and what it waits for.
func Concerned(e *report.Explanation) []report.Ref {
	refs := []report.Ref{e.Object}
	for _, x := range e.Owners {
		refs = append(refs, x.Ref)
	}
	for _, x := range e.Chain {
		refs = append(refs, x.Ref)
	}
	for _, x := range e.Dependents {
		refs = append(refs, x.Ref)
	}
	if e.Deadlock != nil {
		refs = append(refs, e.Deadlock.Path...)
	}
	for _, x := range e.WaitsFor {
		for _, link := range x.Chain {
			refs = append(refs, link.Ref)
		}
	}
	return refs
}
