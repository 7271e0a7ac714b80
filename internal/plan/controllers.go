package plan

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// PodGC is the name of the pod garbage collector in report.Consequence.Controller. It deletes a pod
// 40 to 60 seconds after the pod's node is gone.
const PodGC = controllers.PodGCName

// controllerSet runs the simulated controllers other than the garbage collector.
type controllerSet struct {
	recorder    *recorder
	controllers []controllers.Controller
	// interleaver is nil for the reference schedule.
	interleaver *interleaver
	// lastWaits contains the waits that the controllers recorded in their last pass, by object. It
	// is computed on first use. Each pass resets it.
	lastWaits map[object.Ref][]controllers.Wait
}

func newControllerSet(r *recorder, simHealth *outcome.Health) *controllerSet {
	return &controllerSet{recorder: r, controllers: controllers.All(simHealth, simHealth, r.snap.Version().Rules())}
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
	return w.runPass(ctx, w.controllers, w.recorder.send)
}

// runPass lets controllers act in their order until one of them has changed something. It also
// returns true if the context has ended, which the driver detects itself.
func (w *controllerSet) runPass(ctx context.Context, list []controllers.Controller, send controllers.Send) bool {
	w.lastWaits = nil
	acted, err := controllers.Step(ctx, w.recorder, send, list, func(c controllers.Controller, pass func()) {
		w.recorder.runAs(c.Name(), string(reasonOf(c)), pass)
	})
	return acted != nil || err != nil
}

// waitsOf returns the waits about an object that the controllers recorded in their last pass.
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

// interleaver makes the controllers act under a random schedule. In the reference schedule, each
// controller makes whole passes, one controller after the other, while the collector is idle. Real
// controllers delete object by object and work concurrently, and the collector sees intermediate
// states.
type interleaver struct {
	random *rand.Rand
	// passesLeft is the number of passes that remain while the collector is busy. It is limited
	// because a pass reads all objects.
	passesLeft int
	// wasIdle is true once the collector has been idle. Controllers that wait for some seconds act
	// only then.
	wasIdle bool
}

func newInterleaver(random *rand.Rand) *interleaver {
	return &interleaver{random: random, passesLeft: 32}
}

// act makes an incomplete pass of the controllers, in random order. If it returns false, a complete
// pass may still change something.
func (i *interleaver) act(ctx context.Context, w *controllerSet) bool {
	if i == nil {
		return false
	}
	i.wasIdle = true
	return i.random.IntN(4) > 0 && i.runPass(ctx, w, w.controllers)
}

func (i *interleaver) runPass(ctx context.Context, w *controllerSet, list []controllers.Controller) bool {
	list = slices.Clone(list)
	i.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	p := incompletePass{recorder: w.recorder, random: i.random, leftOut: map[object.Ref]bool{}}
	return w.runPass(ctx, list, p.send)
}

// actWhileBusy lets controllers act while the collector is busy. Until the collector has been idle
// once, the namespace controller and pod GC do not act, because they wait for some seconds. A
// kubelet may act at once.
func (i *interleaver) actWhileBusy(ctx context.Context, w *controllerSet) {
	if i.passesLeft == 0 || i.random.IntN(16) > 0 {
		return
	}
	i.passesLeft--
	list := w.controllers
	if !i.wasIdle {
		list = slices.DeleteFunc(slices.Clone(list), func(c controllers.Controller) bool {
			return c.Name() == controllers.NamespaceName || c.Name() == controllers.PodGCName
		})
	}
	i.runPass(ctx, w, list)
}

// interleavedWorld is a world that lets controllers act while the collector works.
type interleavedWorld struct {
	*recorder
	actWhileBusy func()
}

// Events returns the events of the collector's watches. The collector calls it at every step.
func (w interleavedWorld) Events() []object.Event {
	w.actWhileBusy()
	return w.recorder.Events()
}

// incompletePass makes only some of the writes of a pass. It leaves out some of the namespaces and
// definitions, and deletes only some objects of a collection. A controller that has deleted objects
// may not get to release their container.
type incompletePass struct {
	recorder *recorder
	random   *rand.Rand
	// leftOut tells which namespaces and definitions are left out.
	leftOut map[object.Ref]bool
	// over is true once no object is updated any more in this pass.
	over bool
}

// errPassOver is the answer to a write that is not made. It acts like any refusal: the next pass
// tries again.
var errPassOver = errors.New("the pass is over")

// send makes a write, or a part of it, or none.
func (p *incompletePass) send(ctx context.Context, i controllers.Intent) (*object.Object, error) {
	if p.leavesOut(i.For) || p.stopsLater() {
		return nil, errPassOver
	}
	switch i.Verb {
	case controllers.DeleteCollection, controllers.DeleteStored:
		p.over = p.over || p.random.IntN(4) == 0
		if p.random.IntN(2) == 0 {
			return nil, p.deleteSome(ctx, i)
		}
	case controllers.Update, controllers.Finalize:
		if p.over {
			return nil, errPassOver
		}
	default:
	}
	return p.recorder.send(ctx, i)
}

// leavesOut reports whether a container is left out.
func (p *incompletePass) leavesOut(of object.Ref) bool {
	if p.recorder.actor != controllers.NamespaceName && p.recorder.actor != controllers.DefinitionName {
		return false
	}
	out, known := p.leftOut[of]
	if !known {
		out = p.random.IntN(2) == 0
		p.leftOut[of] = out
	}
	return out
}

// stopsLater reports whether a pod that the API server may have to call stops in a later pass.
func (p *incompletePass) stopsLater() bool {
	return p.recorder.actor == controllers.KubeletName && len(p.recorder.lostCallees.callees) > 0 && p.random.IntN(2) == 0
}

// deleteSome deletes a random half of a collection.
func (p *incompletePass) deleteSome(ctx context.Context, i controllers.Intent) error {
	for _, o := range p.recorder.ObjectsOf(i.Resource.GroupResource(), i.Namespace) {
		if p.random.IntN(2) == 0 {
			continue
		}
		one := controllers.Intent{Verb: controllers.Delete, For: i.For, Ref: o.Ref, Options: i.Options}
		if _, err := p.recorder.send(ctx, one); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
