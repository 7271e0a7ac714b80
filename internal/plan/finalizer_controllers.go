package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// finalizerControllers finds the controllers that remove finalizers, and whether they run.
type finalizerControllers struct {
	// lookup is nil if nothing is known about controllers.
	lookup ControllerOf
	// simulated contains the controllers that remove their finalizers in the simulation.
	simulated *controllerSet
	// cache contains earlier results of lookup.
	cache map[report.Release]report.Release
}

// releasesOf returns the finalizers of other controllers that hold an object. It excludes those of
// the collector and of the clean-up of a definition's instances, which the simulation removes. It
// includes those of a simulated controller that protects the object while it is in use.
func (f *finalizerControllers) releasesOf(o *object.Object) []report.Release {
	var list []report.Release
	for _, name := range o.Finalizers() {
		if name == object.Foreground || name == object.Orphan || name == controllers.DefinitionCleanup {
			continue
		}
		list = append(list, f.withController(o, report.Release{Object: report.RefOf(o.Ref), Finalizer: name, State: report.ControllerUnknown}))
	}
	return list
}

// withController returns r with the controller that removes the finalizer, and its state.
func (f *finalizerControllers) withController(o *object.Object, r report.Release) report.Release {
	if f.lookup == nil || f.simulated.removesFinalizer(r.Finalizer) {
		return r
	}
	if known, ok := f.cache[r]; ok {
		return known
	}
	answer := r
	answer.Controller, answer.State = f.lookup(o, r.Finalizer)
	if answer.State != report.ControllerGuards { // changes once nothing uses the object
		f.cache[r] = answer
	}
	return answer
}

// RemovedBy returns the controller that removes a finalizer, and when it does so. Both are empty
// for an unknown finalizer.
func RemovedBy(name string) (by, when string) {
	k, _ := finalizer.Of(name)
	return k.RemovedBy, k.When
}
