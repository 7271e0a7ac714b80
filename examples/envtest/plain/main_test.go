// Package plain tests deletes with envtest, gctest and testing.
package plain

import (
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

// The API server of all tests in this package.
var (
	cfg *rest.Config
	c   client.Client
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	env := &envtest.Environment{}
	if cfg, err = env.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = env.Stop() }()
	if c, err = client.New(cfg, client.Options{}); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// namespace makes one for this test alone.
func namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	create(t, ns)
	return ns.Name
}

func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(t *testing.T, o client.Object, options ...client.DeleteOption) {
	t.Helper()
	if err := c.Delete(t.Context(), o, options...); err != nil {
		t.Fatal(err)
	}
}

func settle(t *testing.T, gc *gctest.GC) {
	t.Helper()
	if err := gc.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func wantGone(t *testing.T, gc *gctest.GC, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
			t.Errorf("%s is still there (%v):\n%s", o.GetName(), err, gc.Explain(o))
		}
	}
}

func wantThere(t *testing.T, gc *gctest.GC, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Errorf("%v:\n%s", err, gc.Explain(o))
		}
	}
}
