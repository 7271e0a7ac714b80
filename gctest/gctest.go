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

// GC is a garbage collector at work. It may be used from many goroutines, and any number of
// them may be at work in one process, on different API servers.
type GC struct {
	deleters *deleters.Deleters
}

const (
	// startTimeout is how long Start waits for the API server.
	startTimeout = 30 * time.Second
	// settleTimeout is how long WaitSettled waits with a context that has no deadline.
	settleTimeout = 30 * time.Second
	// stopTimeout is how long the end of a test waits for requests under way.
	stopTimeout = 10 * time.Second
	// explainTimeout is how long Explain may take.
	explainTimeout = 10 * time.Second
)

// Start starts a garbage collector and returns once it has listed and watches every object. It
// collects until the test ends, and leaves no goroutine behind. The API server has to outlive it:
// stop the server in a Cleanup that is registered before Start.
//
// The test fails at once in a cluster that is in use, that is, where kube-controller-manager or a
// kubelet renews its lease (see WithClusterInUse). envtest's USE_EXISTING_CLUSTER=true leads there.
//
// The test also fails at once if the API server cannot be reached, or if the config may not list
// or watch everything. The config needs the rights of an administrator, which envtest's has. A kind
// that cannot be read for another reason, for example because its conversion webhook does not
// answer, is a remark in the log of the test.
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

// stop ends the collector, and tells the test what went wrong. Other goroutines must not do that.
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

// WaitSettled returns when nothing is left to do: everything that was written to the API server
// before the call was seen, what follows from it was done, and what that has brought about, too.
// It does not wait for what others have to do: a finalizer that a controller of the test removes
// does not hold it up.
//
// It returns an error when the context ends, or after 30 seconds if that has no deadline, which
// says what was left to do, and names each object that is being deleted with the finalizers that
// hold it; and at once, when the collector may not see everything or has ended. A context that
// was cancelled is such an error, too. What the server fails at is asked for again until then.
//
// After a first call that has settled, another one costs a single request if nothing was
// written meanwhile.
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

// Explain says why an object is there, goes or is stuck, as text of a few lines for the message
// of a failed test: what the collector makes of its owners, which finalizers hold it and which
// dependents it waits for. It says what the watches have shown, so that it is true of everything
// before the last WaitSettled.
//
// The object is found by its uid; without one by its kind, namespace and name. Typed clients leave
// the kind out: what has no uid has to be of a kind that client-go knows, or say its apiVersion
// and kind.
func (gc *GC) Explain(o Object) string {
	if v := reflect.ValueOf(o); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "which object? It is nil."
	}
	ctx, cancel := context.WithTimeout(context.Background(), explainTimeout)
	defer cancel()
	return gc.deleters.Explain(ctx, refOf(o))
}

// refOf names an object. Typed clients leave the kind out.
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
