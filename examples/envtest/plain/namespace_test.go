package plain

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

// A namespace goes with its content, and waits for a finalizer that is the business of a
// controller.
func TestNamespace(t *testing.T) {
	gc := gctest.Start(t, cfg)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "shop-"}}
	create(t, ns)
	free := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "free"}}
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: ns.Name, Name: "held", Finalizers: []string{"example.com/cleanup"},
	}}
	create(t, free, held)

	remove(t, ns)
	settle(t, gc)
	wantGone(t, gc, free)
	wantThere(t, gc, ns, held)
	if why := gc.Explain(ns); !strings.Contains(why, "example.com/cleanup") {
		t.Errorf("the namespace is there for another reason:\n%s", why)
	}

	controllerutil.RemoveFinalizer(held, "example.com/cleanup")
	if err := c.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	settle(t, gc)
	wantGone(t, gc, held, ns)
}
