// Package controller runs the garbage collector of a live cluster as a service. Run operates
// kube.Collect: it elects a leader by a lease, limits writes, reports its work in metrics,
// events and logs, and answers requests over HTTP.
//
// Every write passes three checks. The gate (type gate) knows the intent of a request. It checks
// protection, the mode, the safety limit and the rate limit of deletes. The transport (type
// transport) runs right before the request is sent: no write starts if another process may hold the
// lease. Last, the server checks the preconditions of the request.
package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// Options configure Run.
type Options struct {
	// Rules and AbsentGracePeriod say how absence is judged.
	Rules             engine.Rules
	AbsentGracePeriod time.Duration
	// Enforce makes it send requests. Otherwise it only reports them.
	Enforce bool
	// Allow lifts the protection of kinds.
	Allow map[schema.GroupKind]bool
	// Workers is the number of concurrent attempts, SyncPeriod the interval of discovery.
	Workers    int
	SyncPeriod time.Duration
	// DeleteQPS limits the rate of deletes; 0 means no limit. The safety limit trips if more than
	// MaxDeletesPerMinute objects are deleted within a minute, or if, under strict rules, more than
	// MaxGarbagePercent of all objects are found to be garbage; 0 disables either.
	DeleteQPS           float32
	MaxDeletesPerMinute int
	MaxGarbagePercent   int
	// Lease configures leader election among replicas; nil for a single process.
	Lease *Lease
	// CheckFor is how long to search for another collector, in CheckNamespace, before anything is
	// written; 0 skips the search.
	CheckFor       time.Duration
	CheckNamespace string
	// Address is the HTTP address; empty for none.
	Address string
	// Config is for the lease, the events and the search for another collector.
	Config *rest.Config
	// Connect returns the client of the collector. The client must send its requests through the
	// given transport.
	Connect func(wrap func(http.RoundTripper) http.RoundTripper) (*kube.Client, error)
	Log     *slog.Logger
}

// state is the activity of a process.
type state string

// The states, as /readyz reports them.
const (
	starting   state = "starting"
	waiting    state = "waiting for the lease"
	shutOut    state = "the lease cannot be read or written"
	syncing    state = "reading the cluster"
	collecting state = "collecting"
	tripped    state = "the safety limit has tripped"
)

// shutdownGrace is how long requests in progress may continue when the process ends.
const shutdownGrace = 5 * time.Second

// errIdle says that this process does not collect at present.
var errIdle = errors.New("this replica does not collect")

// service is one call of Run.
type service struct {
	o      Options
	client *kube.Client
	// core is for events, and for the search for another collector; leases has its own client,
	// which never waits for an event.
	core   typed.CoreV1Interface
	leases coordination.LeasesGetter
	gate   *gate
	events *events
	// would remembers the logged requests that an observer does not send.
	would lastTexts
	// questions are functions to run on the collector.
	questions chan func(*engine.Collector)

	mu   sync.Mutex
	lead bool // leads, or waits for the lease
	// barred is the error of the last request for the lease; nil if it succeeded.
	barred error
	feed   *kube.Feed
	// running is closed when collecting ends; nil before it starts.
	running chan struct{}
}

// Run operates the collector until the context ends, which is not an error, or until the lease is
// lost, which is one.
func Run(ctx context.Context, o Options) error {
	register()
	s := &service{o: o, would: lastTexts{}, questions: make(chan func(*engine.Collector))}
	if err := s.prepare(); err != nil {
		return err
	}
	defer s.client.Close()
	s.events = newEvents(s.core)
	defer s.events.broadcaster.Shutdown()
	if o.Address != "" {
		at, stop, err := s.listen(ctx, o.Address)
		if err != nil {
			return fmt.Errorf("--address: %w", err)
		}
		defer stop()
		o.Log.Info("answering", "address", at)
	}
	o.Log.Info("starting", "rules", o.Rules.String(), "enforce", o.Enforce, "absent-owner-grace-period", o.AbsentGracePeriod)
	if o.Enforce && o.CheckFor > 0 {
		if err := s.findOtherCollector(ctx); err != nil || ctx.Err() != nil {
			return err
		}
	}
	if o.Lease == nil {
		return s.collect(ctx)
	}
	s.mu.Lock()
	s.lead = true
	s.mu.Unlock()
	o.Log.Info("waiting for the lease", "namespace", o.Lease.Namespace, "name", o.Lease.Name, "identity", o.Lease.Identity)
	err := lead(ctx, s.leases, *o.Lease, s.gate.fence, s.recordLeaseResult, s.collect)
	if errors.Is(err, errLost) {
		o.Log.Error("the lease was lost", "identity", o.Lease.Identity)
	}
	return err
}

// prepare makes the gate and the clients. It sends no request.
func (s *service) prepare() error {
	s.gate = &gate{enforce: s.o.Enforce, policy: apply.Policy{Allow: s.o.Allow}}
	s.gate.breaker = newCircuitBreaker(s.o.MaxDeletesPerMinute, time.Now)
	if s.o.MaxGarbagePercent > 0 && s.o.Rules == engine.Strict {
		s.gate.garbage = newGarbageRateLimit(s.o.MaxGarbagePercent, time.Now, s.objects)
	}
	if s.o.DeleteQPS > 0 {
		s.gate.deletes = flowcontrol.NewTokenBucketRateLimiter(s.o.DeleteQPS, max(1, int(s.o.DeleteQPS)))
	}
	if s.o.Lease != nil {
		s.gate.fence = newLeaseFence(s.o.Lease.Renew)
	}
	var err error
	s.client, err = s.o.Connect(func(next http.RoundTripper) http.RoundTripper {
		return &transport{next: next, gate: s.gate}
	})
	if err != nil {
		return err
	}
	if s.core, err = typed.NewForConfig(s.o.Config); err != nil || s.o.Lease == nil {
		return err
	}
	config := rest.CopyConfig(s.o.Config)
	config.QPS, config.Timeout = -1, s.o.Lease.Renew/2
	s.leases, err = coordination.NewForConfig(config)
	return err
}

// collect runs the collector of a leader.
func (s *service) collect(ctx context.Context) error {
	if err := s.restoreTripped(ctx); err != nil {
		return err
	}
	running := make(chan struct{})
	s.mu.Lock()
	s.running = running
	s.mu.Unlock()
	defer close(running)
	watching, stop := context.WithCancel(ctx)
	var guard sync.WaitGroup
	guard.Go(func() { s.watchLimit(watching) })
	defer guard.Wait()
	defer stop()
	s.o.Log.Info("collecting")
	grace := shutdownGrace
	if l := s.o.Lease; l != nil {
		grace = min(cmp.Or(l.Duration-l.Renew, grace), grace)
	}
	err := kube.Collect(ctx, s.client, kube.CollectorOptions{
		Rules: s.o.Rules, AbsentGracePeriod: s.o.AbsentGracePeriod, SyncPeriod: s.o.SyncPeriod, Kind: s.kind,
		Follow: func(f *kube.Feed) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.feed = f
		},
		Run: engine.RunOptions{
			Workers: s.o.Workers, Before: s.gate.before, Hold: holdBack, Record: s.record, Warn: s.events.warn,
			Do: s.questions, Grace: grace,
		},
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// objects returns the number of objects that the collector has observed.
func (s *service) objects(ctx context.Context) (n int, err error) {
	err = s.betweenSteps(ctx, func(c *engine.Collector) {
		g := c.Graph()
		for id := range g.All {
			if !g.Virtual(id) {
				n++
			}
		}
	})
	return n, err
}

// recordLeaseResult records the result of the last request for the lease.
func (s *service) recordLeaseResult(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.barred = err
}

// state returns the activity of this process.
func (s *service) state() state {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.gate.breaker.isTripped():
		return tripped
	case s.running == nil && s.lead && s.barred != nil:
		return shutOut
	case s.running == nil && s.lead:
		return waiting
	case s.running == nil:
		return starting
	case s.feed == nil:
		return syncing
	}
	if closed(s.feed.Synced()) {
		return collecting
	}
	return syncing
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// errAnotherCollector says that another garbage collector works in this cluster. Two collectors may
// both delete, but only one may remove the collector's finalizers, because each relies on its own
// graph.
var errAnotherCollector = errors.New("another garbage collector is at work in this cluster: start kube-controller-manager with --controllers=*,-garbage-collector-controller, or observe, or use strict rules")

// canaryInterval is the interval of checks of the canary.
const canaryInterval = 500 * time.Millisecond

// findOtherCollector creates an object that is garbage and returns errAnotherCollector if it is
// deleted. Its annotation protects it from controllers of this program. Kubernetes does not know
// the annotation.
func (s *service) findOtherCollector(ctx context.Context) error {
	s.o.Log.Info("looking for another collector", "for", s.o.CheckFor)
	maps := s.core.ConfigMaps(s.o.CheckNamespace)
	canary, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "kubectl-gc-canary-",
		Annotations:  map[string]string{"kubectl-gc.io/protect": "true"},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: "kubectl-gc-never-existed", UID: uuid.NewUUID(),
		}},
	}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("the look for another collector (--check-collector): %w", err)
	}
	gone, err := isDeletedWithin(ctx, s.o.CheckFor, func() (bool, error) {
		_, err := maps.Get(ctx, canary.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
	if gone {
		return errAnotherCollector
	}
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	end := maps.Delete(clean, canary.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(canary.UID))})
	if apierrors.IsNotFound(end) && err == nil {
		return errAnotherCollector
	}
	return errors.Join(err, end)
}

// isDeletedWithin reports whether an object is deleted within a time. A failed check is repeated.
// If the last check failed, its error is returned, because it may hide the deletion.
func isDeletedWithin(ctx context.Context, within time.Duration, gone func() (bool, error)) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(min(canaryInterval, within))
	defer tick.Stop()
	var err error
	for {
		select {
		case <-ctx.Done():
			return false, err
		case <-tick.C:
		}
		var went bool
		if went, err = gone(); went {
			return true, nil
		}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
	}
}
