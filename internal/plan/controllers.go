package plan

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	return w.runPass(ctx, list, partialState{w.recorder, i.random, new(bool)})
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

// partialState is the world for an incomplete pass. It shows only some of the namespaces and
// definitions and deletes only some objects of a collection. A controller that has deleted objects
// may not get to release their container.
type partialState struct {
	*recorder
	random *rand.Rand
	// passOver is true once no more writes are made in this pass.
	passOver *bool
}

var _ controllers.World = partialState{}

// errPassOver is the answer to a write after the end of the pass. It acts like any refusal: the next
// pass tries again.
var errPassOver = errors.New("the pass is over")

// randomHalf returns a random half of the objects.
func (w partialState) randomHalf(objects []*object.Object) []*object.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(*object.Object) bool { return w.random.IntN(2) == 0 })
}

// ObjectsOf returns the objects of one resource. The controller that iterates over namespaces or
// definitions sees only some of them. All others see all: for them a hidden definition would not
// exist, and the API server would remove APIs.
func (w partialState) ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object {
	objects := w.recorder.ObjectsOf(gr, namespace)
	switch w.recorder.actor {
	case controllers.NamespaceName:
		if gr == object.Namespace.GroupResource() {
			return w.randomHalf(objects)
		}
	case controllers.DefinitionName:
		if gr == object.CRD.GroupResource() {
			return w.randomHalf(objects)
		}
	}
	return objects
}

// DeleteCollection deletes some or all of the objects.
func (w partialState) DeleteCollection(ctx context.Context, r object.Resource, namespace string, selector labels.Selector, o metav1.DeleteOptions) error {
	*w.passOver = *w.passOver || w.random.IntN(4) == 0
	if w.random.IntN(2) == 0 {
		return w.recorder.DeleteCollection(ctx, r, namespace, selector, o)
	}
	return w.deleteSome(ctx, r.GroupResource(), namespace, o)
}

// DeleteStored deletes some or all of the objects. There is no admission here anyway.
func (w partialState) DeleteStored(ctx context.Context, gr schema.GroupResource, namespace string) error {
	*w.passOver = *w.passOver || w.random.IntN(4) == 0
	if w.random.IntN(2) == 0 {
		return w.recorder.DeleteStored(ctx, gr, namespace)
	}
	return w.deleteSome(ctx, gr, namespace, metav1.DeleteOptions{})
}

func (w partialState) deleteSome(ctx context.Context, gr schema.GroupResource, namespace string, o metav1.DeleteOptions) error {
	for _, some := range w.randomHalf(w.recorder.ObjectsOf(gr, namespace)) {
		if err := w.Delete(ctx, some.Ref, o); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// Update replaces an object, unless the pass is over.
func (w partialState) Update(ctx context.Context, o *object.Object) (*object.Object, error) {
	if *w.passOver {
		return nil, errPassOver
	}
	return w.recorder.Update(ctx, o)
}

// Finalize replaces the spec.finalizers of a namespace, unless the pass is over.
func (w partialState) Finalize(ctx context.Context, o *object.Object) (*object.Object, error) {
	if *w.passOver {
		return nil, errPassOver
	}
	return w.recorder.Finalize(ctx, o)
}
