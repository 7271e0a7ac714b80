package gctest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/deleters"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// T is a test: a *testing.T or *testing.B, or the GinkgoT() of Ginkgo. Until the functions given to
// Cleanup have returned, other goroutines call its Logf, too.
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
	log      *log
	stop     sync.Once
	stopErr  error
}

const (
	// startTimeout is how long Start waits for the API server.
	startTimeout = 30 * time.Second
	// settleTimeout is how long WaitSettled and WaitGone wait with a context that has no deadline.
	settleTimeout = 30 * time.Second
	// stopTimeout is how long Stop waits for requests in progress.
	stopTimeout = 10 * time.Second
	// explainTimeout is how long Explain may take.
	explainTimeout = 10 * time.Second
)

// Start starts a garbage collector and returns once it has listed and watches every object. It
// collects until the test ends, and leaves no goroutine behind. The API server must outlive it:
// stop the server in a Cleanup that is registered before Start, or call Stop before. It writes a
// line for each delete and each removed finalizer into the log of the test.
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
	gc, err := New(config, append([]Option{WithLog(t.Logf)}, options...)...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		t.Helper()
		if err := gc.Stop(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return gc
}

// New starts a garbage collector as Start does, but without a test, for example in TestMain. It logs
// nothing unless WithLog is given. Call Stop before the API server ends.
func New(config *rest.Config, options ...Option) (*GC, error) {
	o := deleters.Options{Command: "gctest", AskProtection: "gctest.WithClaimProtection()", AskInUse: "gctest.WithClusterInUse()"}
	for _, option := range options {
		option.apply(&o)
	}
	if config == nil {
		return nil, errors.New("gctest: the config is nil: has the API server been started?")
	}
	l := &log{write: o.Log}
	o.Log = l.deleted
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	d, err := deleters.Start(ctx, config, o)
	if err != nil {
		return nil, fmt.Errorf("gctest: %w", err)
	}
	remarks, err := d.Remarks()
	if err != nil {
		return nil, fmt.Errorf("gctest: %w", errors.Join(err, d.Stop()))
	}
	for _, remark := range remarks {
		l.remark(remark)
	}
	return &GC{deleters: d, log: l}, nil
}

// Stop ends the collector. It may be called more than once, and the end of the test calls it, too.
// Call it before the API server is stopped, for example in an AfterSuite. The error says that the
// collector had ended before, or that the API server doesn't answer.
//
// It logs a remark for each object that was deleted and created again several times.
func (gc *GC) Stop() error {
	gc.stop.Do(func() {
		ended := make(chan error, 1)
		go func() { ended <- gc.deleters.Stop() }()
		select {
		case err := <-ended:
			if err != nil {
				gc.stopErr = fmt.Errorf("gctest: the garbage collector ended before the test: %w", err)
			}
		case <-time.After(stopTimeout):
			gc.stopErr = fmt.Errorf("gctest: the garbage collector has not ended within %s: the API server does not answer", stopTimeout)
		}
		for _, remark := range gc.deleters.Recreated() {
			gc.log.remark(remark)
		}
		gc.log.close()
	})
	return gc.stopErr
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
	return reported(gc.deleters.Settle(ctx))
}

// WaitGone blocks until none of the objects exists on the API server, no matter what deletes them. An
// object with a uid is gone even if another one has its name.
//
// It returns an error when ctx ends, or after 30 seconds if ctx has no deadline. The error explains
// each object that is left, as Explain does.
func (gc *GC) WaitGone(ctx context.Context, objects ...Object) error {
	if _, bound := ctx.Deadline(); !bound {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, settleTimeout)
		defer cancel()
	}
	var refs []object.Ref
	for _, o := range objects {
		if isNil(o) {
			return errors.New("gctest: which object? It is nil.")
		}
		refs = append(refs, refOf(o))
	}
	return reported(gc.deleters.WaitGone(ctx, refs))
}

// reportError is an error whose message is a report of several lines.
type reportError struct{ err error }

// reported adds the name of the package to an error.
func reported(err error) error {
	if err == nil {
		return nil
	}
	return &reportError{err}
}

// Error returns the report.
func (e *reportError) Error() string { return "gctest: " + e.err.Error() }

// Unwrap returns the reported error.
func (e *reportError) Unwrap() error { return e.err }

// GomegaString returns the first line. Gomega prints it after the whole message, in place of the
// fields of the error.
func (e *reportError) GomegaString() string {
	first, _, _ := strings.Cut(e.Error(), "\n")
	return first
}

// Object is a Kubernetes object of any kind, as client.Object of controller-runtime is.
type Object interface {
	metav1.Object
	runtime.Object
}

// Explain returns why an object exists, is being deleted or is stuck, as a few lines for the message
// of a failed test: the state of its owners, the finalizers that hold it, and the dependents that it
// waits for. It uses what the watches have shown, which includes every write before the last
// WaitSettled. It says when and why the collector deleted an object that is gone.
//
// It finds the object by its uid, or without one by its kind, namespace and name. Objects from typed
// clients usually have no apiVersion and kind. One that also has no uid must be of a type that
// client-go knows.
func (gc *GC) Explain(o Object) string {
	if isNil(o) {
		return "which object? It is nil."
	}
	ctx, cancel := context.WithTimeout(context.Background(), explainTimeout)
	defer cancel()
	return gc.deleters.Explain(ctx, refOf(o))
}

func isNil(o Object) bool {
	v := reflect.ValueOf(o)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
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

// Option changes what a GC does.
type Option interface{ apply(*deleters.Options) }

type option func(*deleters.Options)

func (o option) apply(d *deleters.Options) { o(d) }

// Pods selects when a deleted pod on a node is removed, since no kubelet does that. The API server
// removes a pod without a node at once.
type Pods uint8

// The values of Pods.
const (
	// AtOnce removes pods as soon as they are deleted. It is the default.
	AtOnce Pods = iota
	// AfterGracePeriod removes pods when their grace period is over. WaitSettled waits for that.
	AfterGracePeriod
	// Never leaves pods to the test. WaitSettled does not wait for them.
	Never
)

// WithPods selects when deleted pods are removed.
func WithPods(p Pods) Option {
	ends := map[Pods]deleters.Pods{AtOnce: deleters.AtOnce, AfterGracePeriod: deleters.AfterGracePeriod, Never: deleters.Never}
	end, known := ends[p]
	if !known {
		end = deleters.Pods(p) // Start then fails the test
	}
	return option(func(o *deleters.Options) { o.Pods = end })
}

// WithPodsAfter removes pods the given time after they are deleted, whatever their grace period is.
// WaitSettled waits for that.
func WithPodsAfter(d time.Duration) Option {
	return option(func(o *deleters.Options) {
		o.Pods, o.PodsAfter = deleters.AfterDuration, d
		if d <= 0 {
			o.Pods = deleters.AtOnce
		}
	})
}

// WithLog sends the lines and remarks that Start writes into the log of its test to a function such
// as log.Printf. Several goroutines call it.
func WithLog(logf func(format string, args ...any)) Option {
	return option(func(o *deleters.Options) {
		o.Log = func(line string) { logf("gctest: %s", line) }
	})
}

// WithClaimProtection removes the finalizers that protect storage in use:
// kubernetes.io/pvc-protection from claims that no pod uses, and kubernetes.io/pv-protection from
// volumes that are not bound. The API server adds them. Without this option, deleted claims and
// volumes stay.
func WithClaimProtection() Option {
	return option(func(o *deleters.Options) { o.Protection = true })
}

// WithClusterInUse lets Start run in a cluster with kube-controller-manager or kubelets, so that one
// suite runs there and in envtest. If kube-controller-manager renews its lease, the collector writes
// nothing, and WaitSettled waits for the cluster's own controllers. If only kubelets renew theirs,
// the pods are left to them. On an API server without controllers, the option changes nothing.
func WithClusterInUse() Option {
	return option(func(o *deleters.Options) { o.InUse = true })
}

// maxLogged is how many deletes are logged. A suite that shares one collector can have thousands.
const maxLogged = 200

// log writes lines for people until it is closed: the log of a test must not be used after its end.
type log struct {
	mu sync.Mutex
	// write is nil for no log, and after close.
	write func(line string)
	lines int
}

// deleted logs a delete.
func (l *log) deleted(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.lines++; {
	case l.write == nil || l.lines > maxLogged:
	case l.lines == maxLogged:
		l.write(fmt.Sprintf("%s (deletes after the %dth are not logged)", line, maxLogged))
	default:
		l.write(line)
	}
}

// remark logs a line, however many there are.
func (l *log) remark(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.write != nil {
		l.write(line)
	}
}

func (l *log) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write = nil
}
