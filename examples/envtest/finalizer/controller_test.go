// Package finalizer tests a controller that has a finalizer.
package finalizer

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const finalizer = "example.com/backup"

// reconciler stands for the controller of an operator. ConfigMaps are its databases.
type reconciler struct{ client.Client }

func (r reconciler) Reconcile(ctx context.Context, q ctrl.Request) (ctrl.Result, error) {
	database := &corev1.ConfigMap{}
	if err := r.Get(ctx, q.NamespacedName, database); err != nil || q.Name != "database" {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !database.DeletionTimestamp.IsZero() {
		time.Sleep(200 * time.Millisecond) // the backup
		controllerutil.RemoveFinalizer(database, finalizer)
		return ctrl.Result{}, client.IgnoreNotFound(r.Update(ctx, database))
	}
	if controllerutil.AddFinalizer(database, finalizer) {
		if err := r.Update(ctx, database); err != nil {
			return ctrl.Result{}, err
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: q.Namespace, Name: q.Name}}
	if err := controllerutil.SetControllerReference(database, secret, r.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Create(ctx, secret); !apierrors.IsAlreadyExists(err) {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, nil
}

func startController(t *testing.T, cfg *rest.Config) client.Client {
	t.Helper()
	manager, err := ctrl.NewManager(cfg, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(reconcile.Func(reconciler{manager.GetClient()}.Reconcile)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return manager.GetClient()
}

// waitForSecret returns the Secret once the controller has created it.
func waitForSecret(t *testing.T, c client.Client, name string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(secret), secret)
		return err == nil, client.IgnoreNotFound(err)
	})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}
