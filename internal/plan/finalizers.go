package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// finalizers know who takes a finalizer off, and whether he runs.
type finalizers struct {
	// ask is nil where nothing is known of anybody.
	ask ControllerOf
	// simulated are the controllers that take theirs off by themselves.
	simulated *controllerSet
	// answers are what was asked for before.
	answers map[report.Release]report.Release
}

// of are the finalizers of others that hold an object. What the collector and the
// clean-up of content take off, they take off by themselves; what a simulated controller
// protects comes off when nobody uses it any more, and may do so later.
func (f *finalizers) of(o *object.Object) []report.Release {
	var list []report.Release
	for _, name := range o.Finalizers() {
		if name == object.Foreground || name == object.Orphan || name == controllers.DefinitionCleanup {
			continue
		}
		list = append(list, f.answer(o, report.Release{Object: report.RefOf(o.Ref), Finalizer: name, State: report.ControllerUnknown}))
	}
	return list
}

// answer says who takes a finalizer off, and whether he runs.
func (f *finalizers) answer(o *object.Object, r report.Release) report.Release {
	if f.ask == nil || f.simulated.releases(r.Finalizer) {
		return r
	}
	if known, ok := f.answers[r]; ok {
		return known
	}
	answer := r
	answer.Controller, answer.State = f.ask(o, r.Finalizer)
	if answer.State != report.ControllerGuards { // that ends once nothing uses the object
		f.answers[r] = answer
	}
	return answer
}
