package plan

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// PodGC is the Controller of a consequence that pod GC brings about: 40 to 60 seconds after the node
// has gone.
const PodGC = controllers.PodGCName

// controllerSet is who else deletes in a cluster, beside the collector.
type controllerSet struct {
	recorder    *recorder
	controllers []controllers.Controller
	// interleaver is nil for the reference schedule.
	interleaver *interleaver
	// waits are those of the last pass by their objects; nil until somebody asks.
	waits map[object.Ref][]controllers.Wait
}

func newControllerSet(r *recorder, beside *outcome.Neighbours) *controllerSet {
	return &controllerSet{recorder: r, controllers: controllers.All(beside, beside, r.snap.Version().Rules())}
}

// look shows the controllers the world before anything happens: they have run before.
func (w *controllerSet) look() {
	for _, c := range w.controllers {
		if l, ok := c.(controllers.Looker); ok {
			l.Look(w.recorder)
		}
	}
}

// act lets the controllers act until one of them has changed something. The
// collector has the first word each time.
func (w *controllerSet) act(ctx context.Context) bool {
	if w.interleaver.act(ctx, w) {
		return true
	}
	return w.pass(ctx, w.controllers, w.recorder)
}

// pass lets controllers act in their order until one of them has changed something. It
// reports so as well when the context has ended, which the driver sees itself.
func (w *controllerSet) pass(ctx context.Context, list []controllers.Controller, world controllers.World) bool {
	w.waits = nil
	acted, err := controllers.Step(ctx, world, list, func(c controllers.Controller, pass func()) {
		w.recorder.as(c.Name(), string(reasonOf(c)), pass)
	})
	return acted != nil || err != nil
}

// waitsOf lists what the controllers wait for with an object since their last pass.
func (w *controllerSet) waitsOf(ref object.Ref) []controllers.Wait {
	if w.waits == nil {
		w.waits = controllers.WaitsOf(w.controllers)
	}
	return w.waits[ref]
}

// reasonOf is why what a controller deletes goes.
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

// releases reports whether a simulated controller takes the finalizer off.
func (w *controllerSet) releases(finalizer string) bool {
	return slices.ContainsFunc(w.controllers, func(c controllers.Controller) bool {
		r, ok := c.(controllers.Releaser)
		return ok && r.Finalizer() == finalizer
	})
}
