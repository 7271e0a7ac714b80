package draw

import (
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// OfExposure draws who is lost when a version is not served any more, with the owners. The
// graph has these objects and the references between them. Who is safe is left out.
func OfExposure(x *report.Exposure, g *report.Graph, o Options) *Scene {
	refs := Exposed(x)
	f := figuresOf(g, refs)
	for i := range x.Dependents {
		d := &x.Dependents[i]
		to := f.of(d.Object)
		to.look, to.why, to.alike = Look(d.Outcome), d.Message, d.Reason
		if to.why == "" {
			to.why = reason.Short(d.Reason)
		}
	}
	for i := range x.Consequences {
		c := &x.Consequences[i]
		to := f.of(c.Object)
		to.look, to.alike, to.why = Look(c.Outcome), c.Condition, "goes along"
		if c.Outcome != report.Deleted {
			to.why = "concerned, because an owner goes"
		}
	}
	wanted := make([]bool, len(f.list))
	for _, r := range refs {
		if i, ok := f.nodes.at(r); ok {
			wanted[i] = true
		}
	}
	if i, ok := f.nodes.at(x.Definition); ok {
		f.list[i].target = true
	}
	f.around(wanted)
	return compose(render.ExposureCaption(x), f, wordsOf(x.Source, "unchanged"), o).noting(x.Source, x.Complete, x.Gaps)
}

// Exposed lists the objects that an exposure concerns: its definition, who is exposed, and
// what goes along.
func Exposed(x *report.Exposure) []report.Ref {
	refs := []report.Ref{x.Definition}
	for i := range x.Dependents {
		refs = append(refs, x.Dependents[i].Object)
	}
	for i := range x.Consequences {
		refs = append(refs, x.Consequences[i].Object)
	}
	return refs
}
