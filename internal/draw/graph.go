package draw

import (
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
	return compose(render.GraphCaption(g), f, wordsOf(g.Source, asSeen), o).noting(g.Source, g.Complete, g.Gaps)
}
