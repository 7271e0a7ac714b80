package plan

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// PodGC is the Controller of a consequence that pod GC causes, 40 to 60 seconds after the node has
// gone.
const PodGC = controllers.PodGCName

// controllerSet runs the simulated controllers other than the garbage collector.
type controllerSet struct {
	recorder    *recorder
	controllers []controllers.Controller
	// interleaver is nil for the reference schedule.
	interleaver *interleaver
	// lastWaits contains what the controllers waited for in their last pass, by object. It is
	// computed on first use.
	lastWaits map[object.Ref][]controllers.Wait
}

func newControllerSet(r *recorder, beside *outcome.Neighbours) *controllerSet {
	return &controllerSet{recorder: r, controllers: controllers.All(beside, beside, r.snap.Version().Rules())}
}

// observe shows the controllers the objects before anything happens, because they have been running.
func (w *controllerSet) observe() {
	for _, c := range w.controllers {
		if l, ok := c.(controllers.Looker); ok {
			l.Look(w.recorder)
		}
	}
}

// act lets the controllers act until one of them has changed something. It returns false if none
// did. The collector acts first after each change.
func (w *controllerSet) act(ctx context.Context) bool {
	if w.interleaver.act(ctx, w) {
		return true
	}
	return w.runPass(ctx, w.controllers, w.recorder)
}

// runPass lets controllers act in their order until one of them has changed something. It also
// returns true if the context has ended, which the driver detects itself.
func (w *controllerSet) runPass(ctx context.Context, list []controllers.Controller, world controllers.World) bool {
	w.lastWaits = nil
	acted, err := controllers.Step(ctx, world, list, func(c controllers.Controller, pass func()) {
		w.recorder.runAs(c.Name(), string(reasonOf(c)), pass)
	})
	return acted != nil || err != nil
}

// waitsOf returns what the controllers have been waiting for with an object since their last pass.
func (w *controllerSet) waitsOf(ref object.Ref) []controllers.Wait {
	if w.lastWaits == nil {
		w.lastWaits = controllers.WaitsOf(w.controllers)
	}
	return w.lastWaits[ref]
}

// reasonOf returns the reason of a controller's deletes.
func reasonOf(c controllers.Controller) reason.Code {
	switch c.Name() {
	case controllers.ReclaimName:
		return reason.VolumeReclaimed
	case controllers.TokensName:
		return reason.AccountGone
	}
	if _, releases := c.(controllers.Releaser); releases {
		return reason.Released
	}
	return reason.DeletedByController
}

// removesFinalizer reports whether a simulated controller removes the finalizer.
func (w *controllerSet) removesFinalizer(finalizer string) bool {
	return slices.ContainsFunc(w.controllers, func(c controllers.Controller) bool {
		r, ok := c.(controllers.Releaser)
		return ok && r.Finalizer() == finalizer
	})
}
