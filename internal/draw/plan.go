package draw

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// OfPlan draws the effects of a plan. The graph must contain its objects and their owners; others
// are left out. Garbage that is deleted anyway is drawn only if it owns an affected object.
func OfPlan(p *report.Plan, g *report.Graph, o Options) *Scene {
	f := figuresOf(g, Affected(p))
	concerned := make([]bool, len(f.list))
	for i := range p.Effects {
		e := &p.Effects[i]
		if n, ok := f.nodes.at(e.Object); ok {
			f.list[n].become(e)
			concerned[n] = concerned[n] || affects(p, e)
		}
	}
	for _, t := range p.Seed.Targets {
		if n, ok := f.nodes.at(t); ok {
			f.list[n].target, concerned[n] = true, true
		}
	}
	f.removed(p.Effects)
	f.around(concerned)
	return compose(render.PlanCaption(p), f, wordsOf(p.Source, "not concerned"), o).noting(p.Source, p.Complete, p.Gaps)
}

// become sets the look of an effect.
func (x *figure) become(e *report.Effect) {
	x.look, x.note, x.why = Look(e.Outcome), render.EffectNote(e), render.EffectWhy(e)
	x.alike = e.Reason
}

// removed marks the references that effects remove.
func (f *figures) removed(effects []report.Effect) {
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

// around keeps the wanted figures and their owners.
func (f *figures) around(wanted []bool) {
	keep := slices.Clone(wanted)
	for i := range f.lines {
		if l := &f.lines[i]; wanted[l.dependent] {
			keep[l.owner] = true
		}
	}
	f.keep(keep)
}

// Affected returns the objects that a picture of a plan shows in addition to their owners.
func Affected(p *report.Plan) []report.Ref {
	refs := make([]report.Ref, 0, len(p.Effects)+len(p.Seed.Targets))
	for i := range p.Effects {
		if e := &p.Effects[i]; affects(p, e) {
			refs = append(refs, e.Object)
		}
	}
	return append(refs, p.Seed.Targets...)
}

// affects reports whether an effect is drawn. Events deleted as a consequence are not.
func affects(p *report.Plan, e *report.Effect) bool {
	if object.Ref(e.Object).IsEvent() && e.Outcome == report.Deleted && !slices.Contains(p.Seed.Targets, e.Object) {
		return false
	}
	return !e.AlreadyHappening || p.Seed.Verb == "collect"
}
