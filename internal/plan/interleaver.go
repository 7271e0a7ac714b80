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
)

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

// actWhileBusy lets controllers act while the collector is busy, at first only those that do not
// wait. A kubelet may have nothing to wait for.
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
