package draw

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// OfGraph draws owners and dependents.
func OfGraph(g *report.Graph, o Options) *Scene {
	f := figuresOf(g, nil)
	for _, r := range g.Roots {
		if i, ok := f.nodes.at(r); ok {
			f.list[i].target = true
		}
	}
	return compose(render.GraphCaption(g), f, wordsOf(g.Source, seenText), o).withNotes(g.Source, g.Complete, g.Gaps)
}

// OfPlan draws the effects of a plan. The graph must contain its objects and their owners; others
// are left out. Garbage that is deleted anyway is drawn only if it owns an affected object.
func OfPlan(p *report.Plan, g *report.Graph, o Options) *Scene {
	f := figuresOf(g, Affected(p))
	concerned := make([]bool, len(f.list))
	for i := range p.Effects {
		e := &p.Effects[i]
		if n, ok := f.nodes.at(e.Object); ok {
			x := &f.list[n]
			x.look, x.note, x.why, x.foldProperty = Look(e.Outcome), render.EffectNote(e), render.EffectReason(e), e.Reason
			concerned[n] = concerned[n] || affects(p, e)
		}
	}
	for _, t := range p.Seed.Targets {
		if n, ok := f.nodes.at(t); ok {
			f.list[n].target, concerned[n] = true, true
		}
	}
	f.markRemoved(p.Effects)
	f.keepWithOwners(concerned)
	return compose(render.PlanCaption(p), f, wordsOf(p.Source, "not concerned"), o).withNotes(p.Source, p.Complete, p.Gaps)
}

// markRemoved marks the references that effects remove.
func (f *figures) markRemoved(effects []report.Effect) {
	type reference struct {
		dependent int
		owner     types.UID
	}
	gone := map[reference]bool{}
	for i := range effects {
		for _, owner := range effects[i].RemovedReferences {
			gone[reference{f.nodes.byUID[effects[i].Object.UID], owner.UID}] = true
		}
	}
	for i := range f.lines {
		l := &f.lines[i]
		l.removed = gone[reference{l.dependent, f.list[l.owner].refs[0].UID}]
	}
}

// keepWithOwners keeps the wanted figures and their owners.
func (f *figures) keepWithOwners(wanted []bool) {
	keep := slices.Clone(wanted)
	for i := range f.lines {
		if l := &f.lines[i]; wanted[l.dependent] {
			keep[l.owner] = true
		}
	}
	f.keep(keep)
}

// Affected returns the objects that a picture of a plan shows in addition to their owners.
func Affected(p *report.Plan) []object.Ref {
	refs := make([]object.Ref, 0, len(p.Effects)+len(p.Seed.Targets))
	for i := range p.Effects {
		if e := &p.Effects[i]; affects(p, e) {
			refs = append(refs, e.Object)
		}
	}
	return append(refs, p.Seed.Targets...)
}

// affects reports whether an effect is drawn. Events deleted as a consequence are not.
func affects(p *report.Plan, e *report.Effect) bool {
	if e.Object.IsEvent() && e.Outcome == report.Deleted && !slices.Contains(p.Seed.Targets, e.Object) {
		return false
	}
	return !p.IsUnrelated(e)
}

// OfExplanation draws an object with all its owners, its dependents, and what it waits for. The
// graph must contain these objects and the references between them.
func OfExplanation(e *report.Explanation, g *report.Graph, o Options) *Scene {
	f := figuresOf(g, []object.Ref{e.Object})
	explained, _ := f.nodes.at(e.Object)
	x := &f.list[explained]
	x.target, x.why = true, cmp.Or(e.Message, reason.Short(e.Reason))
	if e.Verdict == report.Garbage {
		x.note = "garbage"
	}
	for _, owner := range e.Owners {
		if i, ok := f.nodes.at(owner.Ref); ok && owner.Ref != e.Object {
			f.list[i].why = owner.Evidence
		}
	}
	return compose(render.ExplanationCaption(e), f, wordsOf(e.Source, seenText), o).withNotes(e.Source, e.Complete, e.Gaps)
}

// Concerned returns the objects of an explanation: the object itself, all its owners, its
// dependents, and what it waits for.
func Concerned(e *report.Explanation) []object.Ref {
	refs := []object.Ref{e.Object}
	refs = append(refs, object.Mapped(e.Owners, func(x report.OwnerFinding) object.Ref { return x.Ref })...)
	refs = append(refs, object.Mapped(e.Chain, func(x report.ChainLink) object.Ref { return x.Ref })...)
	refs = append(refs, object.Mapped(e.Dependents, func(x report.DependentFinding) object.Ref { return x.Ref })...)
	if e.Deadlock != nil {
		refs = append(refs, e.Deadlock.Path...)
	}
	for _, x := range e.WaitsFor {
		refs = append(refs, object.Mapped(x.Chain, func(link report.WaitLink) object.Ref { return link.Ref })...)
	}
	return refs
}
