package program

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func TestDependentGoesWithItsOwner(t *testing.T) {
	env := &envtest.Environment{}
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Stop() })
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	collector := Start(t, env, c, "-v=4")

	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}}
	dependent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "dependent"}}
	if err := c.Create(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if err := controllerutil.SetControllerReference(owner, dependent, c.Scheme()); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), dependent); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if err := collector.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(dependent), dependent); !apierrors.IsNotFound(err) {
		t.Errorf("%v\n%s", err, collector.Explain(t.Context(), dependent))
	}
	if text := collector.Explain(t.Context(), dependent); !strings.Contains(text, "(uid "+string(owner.UID)+") doesn't exist") {
		t.Error(text)
	}
}
