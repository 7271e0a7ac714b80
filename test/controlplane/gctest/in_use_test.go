package gctest

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

// TestObserves runs one suite on a cluster with controllers of its own: what they do is waited for,
// and nothing is written. While they do not work, nothing settles, and what they have not done is
// said. It changes the API server of all tests, so that it is not among those that run at the
// same time.
func TestObserves(t *testing.T) {
	s := enter(t)
	s.lease("kube-system", "kube-controller-manager", "control-plane-1")
	config := rest.CopyConfig(s.config)
	var writes atomic.Int64
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet {
				writes.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	gc := gctest.Start(t, config, gctest.WithClusterInUse())
	s.settled(gc)
	owner := s.configMap("owner", nil)
	s.configMap("dependent", nil, owned(owner))
	s.remove("owner", metav1.DeletePropagationBackground)
	if err := s.client.CoreV1().Namespaces().Delete(t.Context(), s.namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err := gc.WaitSettled(ctx)
	if err == nil || !strings.Contains(err.Error(), s.namespace) || !strings.Contains(err.Error(), "kube-controller-manager has not done that yet") {
		t.Fatalf("without controllers: %v", err)
	}
	s.are("dependent")
	if err := plane.Controllers("garbage-collector-controller", "namespace-controller"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Controllers(); err != nil {
			t.Error(err)
		}
	})
	s.settled(gc)
	if _, err := s.client.CoreV1().Namespaces().Get(t.Context(), s.namespace, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the namespace: %v, want not found", err)
	}
	if n := writes.Load(); n > 0 {
		t.Errorf("%d writes, want none", n)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// lease makes a lease that was renewed just now, until the test ends.
func (s *stage) lease(namespace, name, holder string) {
	s.Helper()
	now, seconds := metav1.NowMicro(), int32(15)
	leases := s.client.CoordinationV1().Leases(namespace)
	if _, err := s.client.CoreV1().Namespaces().Create(s.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		s.Fatal(err)
	}
	_, err := leases.Create(s.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		// A controller manager that was started and stopped has taken it along.
		if err := leases.Delete(context.WithoutCancel(s.Context()), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			s.Error(err)
		}
	})
}
