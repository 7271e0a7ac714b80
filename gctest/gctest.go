package gctest

import (
	"context"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/deleters"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// T is a test: a *testing.T or *testing.B, or the GinkgoT() of Ginkgo. It is used only by the
// goroutine that calls Start, and by the one that runs the functions given to Cleanup.
type T interface {
	Helper()
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// GC is a running garbage collector. It is safe for concurrent use. One process may run any number
// of them, each on its own API server.
type GC struct {
	deleters *deleters.Deleters
}

const (
	// startTimeout is how long Start waits for the API server.
	startTimeout = 30 * time.Second
	// settleTimeout is how long WaitSettled waits with a context that has no deadline.
	settleTimeout = 30 * time.Second
	// stopTimeout is how long the end of a test waits for requests in progress.
	stopTimeout = 10 * time.Second
	// explainTimeout is how long Explain may take.
	explainTimeout = 10 * time.Second
)

// Start starts a garbage collector and returns once it has listed and watches every object. It
// collects until the test ends, and leaves no goroutine behind. The API server must outlive it:
// stop the server in a Cleanup that is registered before Start.
//
// Start fails the test in a cluster that is in use, that is, where kube-controller-manager or a
// kubelet renews its lease (see WithClusterInUse). With USE_EXISTING_CLUSTER=true, envtest connects
// to such a cluster.
//
// Start also fails the test if it cannot reach the API server, or if the config may not list or
// watch everything. The config needs the rights of an administrator, which envtest's has. If a kind
// cannot be read for another reason, for example because its conversion webhook does not answer,
// Start only logs that.
func Start(t T, config *rest.Config, options ...Option) *GC {
	t.Helper()
	o := deleters.Options{Command: "gctest", AskProtection: "gctest.WithClaimProtection()", AskInUse: "gctest.WithClusterInUse()"}
	for _, option := range options {
		option.apply(&o)
	}
	if config == nil {
		t.Fatalf("gctest: the config is nil: has the API server been started?")
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	d, err := deleters.Start(ctx, config, o)
	if err != nil {
		t.Fatalf("gctest: %v", err)
		return nil
	}
	gc := &GC{d}
	t.Cleanup(func() { gc.stop(t) })
	remarks, err := d.Remarks()
	if err != nil {
		t.Fatalf("gctest: %v", err)
	}
	for _, remark := range remarks {
		t.Logf("gctest: %s", remark)
	}
	return gc
}

// stop ends the collector and reports its error to the test. Only the calling goroutine uses t.
func (gc *GC) stop(t T) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- gc.deleters.Stop() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("gctest: the garbage collector ended before the test: %v", err)
		}
	case <-time.After(stopTimeout):
		t.Errorf("gctest: the garbage collector has not ended within %s: the API server does not answer", stopTimeout)
	}
}

// WaitSettled blocks until nothing is left to do: the collector has seen everything that was
// written to the API server before the call, and has finished all deletions that follow from it.
// It does not wait for the work of other controllers: an object is settled if only a finalizer
// that a controller of the test removes holds it.
//
// It returns an error when ctx ends, by cancellation too, or after 30 seconds if ctx has no
// deadline. The error lists the remaining work, and each object that is being deleted with the
// finalizers that hold it. Failed requests are retried until then. WaitSettled fails at once if the
// collector may not read everything or has ended.
//
// After a successful call, the next one costs a single request if nothing was written in between.
func (gc *GC) WaitSettled(ctx context.Context) error {
	if _, bound := ctx.Deadline(); !bound {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, settleTimeout)
		defer cancel()
	}
	if err := gc.deleters.Settle(ctx); err != nil {
		return fmt.Errorf("gctest: %w", err)
	}
	return nil
}

// Object is a Kubernetes object of any kind, as client.Object of controller-runtime is.
type Object interface {
	metav1.Object
	runtime.Object
}

// Explain returns why an object exists, is being deleted or is stuck, as a few lines for the message
// of a failed test: the state of its owners, the finalizers that hold it, and the dependents that it
// waits for. It uses what the watches have shown, which includes every write before the last
// WaitSettled.
//
// It finds the object by its uid, or without one by its kind, namespace and name. Objects from typed
// clients usually have no apiVersion and kind. One that also has no uid must be of a type that
// client-go knows.
func (gc *GC) Explain(o Object) string {
	if v := reflect.ValueOf(o); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "which object? It is nil."
	}
	ctx, cancel := context.WithTimeout(context.Background(), explainTimeout)
	defer cancel()
	return gc.deleters.Explain(ctx, refOf(o))
}

// refOf returns the reference of an object. If the object has no kind, as from a typed client,
// refOf takes it from the scheme of client-go.
func refOf(o Object) object.Ref {
	kind := o.GetObjectKind().GroupVersionKind()
	if kind.Empty() {
		if kinds, _, err := scheme.Scheme.ObjectKinds(o); err == nil && len(kinds) > 0 {
			kind = kinds[0]
		}
	}
	ref := object.Ref{
		APIVersion: kind.GroupVersion().String(), Kind: kind.Kind,
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(),
	}
	if u, ok := o.(*unstructured.Unstructured); ok { // its apiVersion may be malformed
		ref.APIVersion, ref.Kind = u.GetAPIVersion(), u.GetKind()
	}
	return ref
}
