package controllers_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

var (
	_ controllers.World    = (*apisim.Server)(nil)
	_ controllers.Selector = (*apisim.Server)(nil)
	_ controllers.Coverage = (*apisim.Server)(nil)
)

// writable is a world that takes writes.
type writable interface {
	controllers.World
	controllers.Writer
}

// plain is a World without optional interfaces.
type plain struct{ controllers.World }

// server returns a server with the world in the text, written as in scenarios.
func server(t testing.TB, text string, opts ...apisim.Option) *apisim.Server {
	t.Helper()
	objects, err := scenario.ParseWorld(text, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	return apisim.New(objects, scenario.Resources(), append([]apisim.Option{apisim.WithClock(scenario.Start)}, opts...)...)
}

// remains lists the objects by name.
func remains(s *apisim.Server) []string {
	names := []string{}
	for o := range s.List {
		names = append(names, o.Ref.String())
	}
	return names
}

// waits lists the waits of a controller.
func waits(c controllers.Controller) []string {
	lines := []string{}
	for _, w := range c.Waiting() {
		lines = append(lines, w.String())
	}
	return lines
}

// settle steps one controller until it changes nothing and returns the number of steps that changed
// something.
func settle(t testing.TB, c controllers.Controller, w writable) int {
	t.Helper()
	for n := range 100 {
		acted, err := c.Step(t.Context(), w, controllers.To(w))
		if err != nil {
			t.Fatal(err)
		}
		if !acted {
			return n
		}
	}
	t.Fatalf("%s never settles", c.Name())
	return 0
}

// tapped is a server with requests that a test can observe or answer.
type tapped struct {
	*apisim.Server
	deletes     func(object.Ref, metav1.DeleteOptions) error
	collections func(object.Resource, metav1.DeleteOptions) error
	stored      func(gr schema.GroupResource, namespace string) error
	updates     func(*object.Object) error
	finalizes   func(*object.Object) error
	patches     func(object.Ref, object.Patch) error
}

func (w *tapped) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	if w.deletes != nil {
		if err := w.deletes(ref, o); err != nil {
			return err
		}
	}
	return w.Server.Delete(ctx, ref, o)
}

func (w *tapped) DeleteCollection(ctx context.Context, r object.Resource, ns string, s labels.Selector, o metav1.DeleteOptions) error {
	if w.collections != nil {
		if err := w.collections(r, o); err != nil {
			return err
		}
	}
	return w.Server.DeleteCollection(ctx, r, ns, s, o)
}

func (w *tapped) DeleteStored(ctx context.Context, gr schema.GroupResource, ns string) error {
	if w.stored != nil {
		if err := w.stored(gr, ns); err != nil {
			return err
		}
	}
	return w.Server.DeleteStored(ctx, gr, ns)
}

func (w *tapped) Update(ctx context.Context, o *object.Object) (*object.Object, error) {
	if w.updates != nil {
		if err := w.updates(o); err != nil {
			return nil, err
		}
	}
	return w.Server.Update(ctx, o)
}

func (w *tapped) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	if w.patches != nil {
		if err := w.patches(ref, p); err != nil {
			return err
		}
	}
	return w.Server.Patch(ctx, ref, p)
}

func (w *tapped) Finalize(ctx context.Context, o *object.Object) (*object.Object, error) {
	if w.finalizes != nil {
		if err := w.finalizes(o); err != nil {
			return nil, err
		}
	}
	return w.Server.Finalize(ctx, o)
}

// whole covers everything.
var whole = partly{}

// partly covers everything but some kinds, each in one or all namespaces.
type partly map[string]string

func (c partly) Covers(r object.Resource, namespace string) bool {
	gap, open := c[r.Kind]
	return !open || gap != "" && namespace != "" && gap != namespace
}

func (c partly) Why(r object.Resource, namespace string) string {
	if c.Covers(r, namespace) {
		return ""
	}
	return "no list of it"
}
