package apply

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// effect is what a plan predicts of an object.
type effect struct{ *report.Effect }

type effects []effect

func effectsOf(p *report.Plan) effects {
	list := make(effects, len(p.Effects))
	for i := range p.Effects {
		list[i] = effect{&p.Effects[i]}
	}
	return list
}

// takes tells whether the object is gone afterwards, or on its way.
func (e effect) takes() bool { return e.Outcome == report.Deleted || e.stays() }

// stays tells whether the object is on its way and does not get there.
func (e effect) stays() bool { return e.Outcome == report.Blocked }

// changes tells whether the object stays, and not as it was.
func (e effect) changes() bool { return e.Outcome == report.Orphaned || e.Outcome == report.Pruned }

// predicted tells whether reality can be compared with the effect.
func (e effect) predicted() bool {
	return !e.Baseline && !e.Contested && e.Outcome != report.Unknown
}

func sortSubjects(list []subject) {
	slices.SortFunc(list, func(a, b subject) int { return object.Compare(a.ref, b.ref) })
}
