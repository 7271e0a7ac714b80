package finalizer

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

func TestDatabaseTakesItsSecretAlong(t *testing.T) {
	env := &envtest.Environment{}
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Stop() })
	gc := gctest.Start(t, cfg)   // collects until the test ends
	c := startController(t, cfg) // makes a Secret, and holds the database until it has a backup

	database := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "database"}}
	if err := c.Create(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	secret := waitForSecret(t, c, "database")
	if err := c.Delete(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	if err := gc.WaitGone(t.Context(), database, secret); err != nil { // says why one is still there
		t.Fatal(err)
	}
}
