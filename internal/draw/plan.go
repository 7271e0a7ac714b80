package draw

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// OfPlan draws what becomes of objects. The graph has the objects of the plan and their
// owners; what it has beside is left out. Garbage that goes without the request, too, is
// drawn only where it owns what the request concerns.
func OfPlan(p *report.Plan, g *report.Graph, o Options) *Scene {
	effects, concerned := map[report.Ref]*report.Effect{}, map[report.Ref]bool{}
	for i := range p.Effects {
		effects[p.Effects[i].Object] = &p.Effects[i]
	}
	affected := Affected(p)
	for _, r := range affected {
		concerned[r] = true
	}
	f := figuresOf(g, affected)
	for i := range f.list {
		if e := effects[f.list[i].refs[0]]; e != nil {
			f.list[i].become(e)
		}
	}
	for _, t := range p.Seed.Targets {
		f.list[f.byRef[t]].target = true
	}
	f.removed(p.Effects)
	f.around(concerned)
	return compose(render.PlanCaption(p), f, wordsOf(p.Source, "not concerned"), o).noting(p.Source, p.Complete, p.Gaps)
}

// become gives a figure the look of an effect.
func (x *figure) become(e *report.Effect) {
	x.look, x.note, x.why = Look(e.Outcome), render.EffectNote(e), render.EffectWhy(e)
	x.alike = e.Reason
}

// removed marks the references that effects take off.
func (f *figures) removed(effects []report.Effect) {
	type reference struct {
		dependent int
		owner     types.UID
	}
	gone := map[reference]bool{}
	for i := range effects {
		for _, owner := range effects[i].RemovedReferences {
			gone[reference{f.byUID[effects[i].Object.UID], owner.UID}] = true
		}
	}
	for i := range f.lines {
		l := &f.lines[i]
		l.removed = gone[reference{l.dependent, f.list[l.owner].refs[0].UID}]
	}
}

// around keeps the wanted objects and their owners.
func (f *figures) around(wanted map[report.Ref]bool) {
	keep := make([]bool, len(f.list))
	for i := range f.list {
		keep[i] = wanted[f.list[i].refs[0]]
	}
	for _, l := range f.lines {
		if wanted[f.list[l.dependent].refs[0]] {
			keep[l.owner] = true
		}
	}
	f.keep(keep)
}

// Affected lists the objects that a picture of a plan shows beside their owners.
func Affected(p *report.Plan) []report.Ref {
	var refs []report.Ref
	for i := range p.Effects {
		if e := &p.Effects[i]; !e.AlreadyHappening || p.Seed.Verb == "collect" {
			refs = append(refs, e.Object)
		}
	}
	return append(refs, p.Seed.Targets...)
}
