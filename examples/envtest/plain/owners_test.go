package plain

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

// family makes an owner and its dependent.
func family(t *testing.T) (owner, dependent *corev1.ConfigMap) {
	t.Helper()
	owner = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace(t), Name: "owner"}}
	create(t, owner)
	return owner, dependentOf(t, owner)
}

// dependentOf makes a ConfigMap as a controller would.
func dependentOf(t *testing.T, owner client.Object) *corev1.ConfigMap {
	t.Helper()
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), GenerateName: "dependent-"}}
	if err := controllerutil.SetControllerReference(owner, o, c.Scheme()); err != nil {
		t.Fatal(err)
	}
	create(t, o)
	return o
}

// The reproducer of https://github.com/kubernetes-sigs/controller-runtime/issues/1459.
func TestDependentGoesWithItsOwner(t *testing.T) {
	gc := gctest.Start(t, cfg)
	owner, dependent := family(t)
	remove(t, owner)
	settle(t, gc)
	wantGone(t, gc, owner, dependent)
}

func TestForeground(t *testing.T) {
	gc := gctest.Start(t, cfg)
	owner, dependent := family(t)
	remove(t, owner, client.PropagationPolicy(metav1.DeletePropagationForeground))
	settle(t, gc)
	wantGone(t, gc, owner, dependent)
}

func TestOrphan(t *testing.T) {
	gc := gctest.Start(t, cfg)
	owner, dependent := family(t)
	remove(t, owner, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	settle(t, gc)
	wantGone(t, gc, owner)
	wantThere(t, gc, dependent)
	if refs := dependent.GetOwnerReferences(); len(refs) > 0 {
		t.Errorf("the orphan has owners: %v", refs)
	}
}

// An owner that is deleted in the foreground waits for a dependent with a finalizer. Explain
// says so: it is what the message of a failed test shows.
func TestExplain(t *testing.T) {
	gc := gctest.Start(t, cfg)
	owner, dependent := family(t)
	controllerutil.AddFinalizer(dependent, "example.com/cleanup")
	if err := c.Update(t.Context(), dependent); err != nil {
		t.Fatal(err)
	}
	remove(t, owner, client.PropagationPolicy(metav1.DeletePropagationForeground))
	settle(t, gc)
	wantThere(t, gc, owner, dependent)
	for _, o := range []client.Object{owner, dependent} {
		if why := gc.Explain(o); !strings.Contains(why, "example.com/cleanup") {
			t.Errorf("%s is there for another reason:\n%s", o.GetName(), why)
		}
	}

	controllerutil.RemoveFinalizer(dependent, "example.com/cleanup")
	if err := c.Update(t.Context(), dependent); err != nil {
		t.Fatal(err)
	}
	settle(t, gc)
	wantGone(t, gc, owner, dependent)
}
