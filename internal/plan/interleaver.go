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

// interleaver has the controllers act under another schedule than the reference one, in
// which each of them makes whole passes, one after the other, when the collector is
// idle. A real one deletes object by object, several of them work at a time, and the
// collector sees the world in between.
type interleaver struct {
	random *rand.Rand
	// left is how often they may still act while the collector is busy: a pass looks
	// at the whole world.
	left int
	// begun: the collector was idle, so that also those act that wait for some seconds.
	begun bool
}

func newInterleaver(random *rand.Rand) *interleaver { return &interleaver{random: random, left: 32} }

// act is a pass that does not come to everything, by the controllers in any order. One that changes
// nothing says nothing: what it left out may be what there is to do.
func (i *interleaver) act(ctx context.Context, w *controllerSet) bool {
	if i == nil {
		return false
	}
	i.begun = true
	return i.random.IntN(4) > 0 && i.pass(ctx, w, w.controllers)
}

func (i *interleaver) pass(ctx context.Context, w *controllerSet, list []controllers.Controller) bool {
	list = slices.Clone(list)
	i.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return w.pass(ctx, list, partialState{w.recorder, i.random, new(bool)})
}

// meanwhile lets controllers act while the collector is busy: at first those that do
// not wait. A kubelet may have nothing to wait for.
func (i *interleaver) meanwhile(ctx context.Context, w *controllerSet) {
	if i.left == 0 || i.random.IntN(16) > 0 {
		return
	}
	i.left--
	list := w.controllers
	if !i.begun {
		list = slices.DeleteFunc(slices.Clone(list), func(c controllers.Controller) bool {
			return c.Name() == controllers.NamespaceName || c.Name() == controllers.PodGCName
		})
	}
	i.pass(ctx, w, list)
}

// interleaved is the world in which the collector works beside the controllers.
type interleaved struct {
	*recorder
	meanwhile func()
}

// Events hands over what the collector's watches show. It is called at every step of
// the collector.
func (w interleaved) Events() []object.Event {
	w.meanwhile()
	return w.recorder.Events()
}

// partialState is the world for a pass that does not come to everything: it shows some of
// the namespaces and definitions, of what is deleted at once it deletes some, and who
// has deleted something may not come to let go of what it was in.
type partialState struct {
	*recorder
	random *rand.Rand
	// over tells that nothing more is written in this pass.
	over *bool
}

var _ controllers.World = partialState{}

// errOver is the answer to whoever writes when the pass is over. It is a refusal like
// another one: the next pass tries again.
var errOver = errors.New("the pass is over")

// some are half of the objects.
func (w partialState) some(objects []*object.Object) []*object.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(*object.Object) bool { return w.random.IntN(2) == 0 })
}

// ObjectsOf lists the objects of one resource; of the containers only some, to the
// controller that walks through them. To everybody else one that is not shown would not
// exist: the API server would take down the APIs of all definitions.
func (w partialState) ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object {
	objects := w.recorder.ObjectsOf(gr, namespace)
	switch w.recorder.actor {
	case controllers.NamespaceName:
		if gr == object.Namespace.GroupResource() {
			return w.some(objects)
		}
	case controllers.DefinitionName:
		if gr == object.CRD.GroupResource() {
			return w.some(objects)
		}
	}
	return objects
}

// DeleteCollection deletes some of the objects.
func (w partialState) DeleteCollection(ctx context.Context, r object.Resource, namespace string, selector labels.Selector, o metav1.DeleteOptions) error {
	*w.over = *w.over || w.random.IntN(4) == 0
	if w.random.IntN(2) == 0 {
		return w.recorder.DeleteCollection(ctx, r, namespace, selector, o)
	}
	return w.deleteSome(ctx, r.GroupResource(), namespace, o)
}

// DeleteStored deletes some of the objects: nothing is admitted here anyway.
func (w partialState) DeleteStored(ctx context.Context, gr schema.GroupResource, namespace string) error {
	*w.over = *w.over || w.random.IntN(4) == 0
	if w.random.IntN(2) == 0 {
		return w.recorder.DeleteStored(ctx, gr, namespace)
	}
	return w.deleteSome(ctx, gr, namespace, metav1.DeleteOptions{})
}

func (w partialState) deleteSome(ctx context.Context, gr schema.GroupResource, namespace string, o metav1.DeleteOptions) error {
	for _, some := range w.some(w.recorder.ObjectsOf(gr, namespace)) {
		if err := w.Delete(ctx, some.Ref, o); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// Update replaces an object, unless the pass is over.
func (w partialState) Update(ctx context.Context, o *object.Object) (*object.Object, error) {
	if *w.over {
		return nil, errOver
	}
	return w.recorder.Update(ctx, o)
}

// Finalize replaces what a namespace is held by, unless the pass is over.
func (w partialState) Finalize(ctx context.Context, o *object.Object) (*object.Object, error) {
	if *w.over {
		return nil, errOver
	}
	return w.recorder.Finalize(ctx, o)
}
