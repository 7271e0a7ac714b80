package controller

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo/leaderelection" // leader election
	_ "k8s.io/component-base/metrics/prometheus/restclient"              // the lease and the events

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// answerTimeout is how long a response waits for the collector.
const answerTimeout = 5 * time.Second

var errBusy = errors.New("the garbage collector does not answer")

// betweenSteps calls f with the collector between two steps. It returns errIdle if this process
// does not collect, and errBusy after answerTimeout.
func (s *service) betweenSteps(ctx context.Context, f func(*engine.Collector)) error {
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	if running == nil {
		return errIdle
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	seen := make(chan struct{})
	select {
	case s.questions <- func(c *engine.Collector) { f(c); close(seen) }:
	case <-running:
		return errIdle
	case <-ctx.Done():
		return errBusy
	}
	<-seen // it is running already
	return nil
}

// handler returns the HTTP handler.
func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /debug/graph", s.graph)
	return mux
}

// health fails if the collector hangs.
func (s *service) health(w http.ResponseWriter, r *http.Request) {
	if err := s.betweenSteps(r.Context(), func(*engine.Collector) {}); err != nil && !errors.Is(err, errIdle) {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	answer(w, "ok")
}

// ready fails if this process does not do its work. A replica that waits for the lease is ready.
func (s *service) ready(w http.ResponseWriter, _ *http.Request) {
	state := s.state()
	switch state {
	case waiting, collecting:
		answer(w, string(state))
	default:
		http.Error(w, string(state), http.StatusServiceUnavailable)
	}
}

func (s *service) metrics(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	feed, running := s.feed, s.running != nil
	s.mu.Unlock()
	measureLimit(s.gate.breaker)
	leaderGauge.Set(flag(running && s.gate.fence.holds()))
	syncedGauge.Set(flag(feed != nil && closed(feed.Synced())))
	if feed != nil {
		measureKinds(feed.Kinds())
	}
	if err := s.betweenSteps(r.Context(), measure); errors.Is(err, errIdle) {
		measure(idle)
	}
	legacyregistry.Handler().ServeHTTP(w, r)
}

// idle is an empty collector, for the gauges of a process that does not collect.
var idle = engine.New()

// graph is the debug endpoint of kube-controller-manager. It is restricted to this machine, because
// it shows names.
//
// Upstream: pkg/controller/garbagecollector/dump.go debugHTTPHandler.ServeHTTP.
// Rule: spec §4.
func (s *service) graph(w http.ResponseWriter, r *http.Request) {
	if !local(r.RemoteAddr) {
		http.NotFound(w, r)
		return
	}
	uids := object.Mapped(r.URL.Query()["uid"], func(uid string) types.UID { return types.UID(uid) })
	var doc *report.Graph
	err := s.betweenSteps(r.Context(), func(c *engine.Collector) { doc = picture(c, uids, s.client.Resource) })
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	var out bytes.Buffer
	if err := render.UpstreamDOT(&out, render.Style{}, doc); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/vnd.graphviz")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(out.Bytes())
}

// local reports whether a request comes from this machine, or through a port that is forwarded to
// it.
func local(remote string) bool {
	at, err := netip.ParseAddrPort(remote)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

func answer(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write([]byte(text + "\n"))
}

// listen serves until the returned function is called. It returns the actual address, which has the
// chosen port if the requested port was 0.
func (s *service) listen(ctx context.Context, address string) (at string, stop func(), err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: answerTimeout, MaxHeaderBytes: 1 << 16}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l) // always returns an error after Close
	}()
	return l.Addr().String(), func() { _ = server.Close(); <-ended }, nil
}

// picture returns the graph of a collector as a document. The scope of its kind decides whether an
// object that is only referenced has a namespace.
func picture(c *engine.Collector, uids []types.UID, resource func(apiVersion, kind string) (object.Resource, error)) *report.Graph {
	g := c.Graph()
	doc := &report.Graph{Header: report.HeaderOf("Graph"), Complete: true}
	for _, uid := range uids {
		doc.Roots = append(doc.Roots, object.Ref{UID: uid})
	}
	for id := range g.All {
		owners := g.Owners(id)
		if len(owners) == 0 && g.DependentCount(id) == 0 {
			continue
		}
		ref := g.Identity(id)
		if g.Virtual(id) {
			if r, err := resource(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
				ref.Namespace = ""
			}
		}
		doc.Nodes = append(doc.Nodes, report.Node{
			Ref: ref, Virtual: g.Virtual(id), Observed: !g.Virtual(id),
			BeingDeleted: g.BeingDeleted(id), WaitingForDependents: g.WaitingForDependents(id),
		})
		for _, o := range owners {
			if _, ok := g.Find(o.UID); !ok {
				doc.Nodes = append(doc.Nodes, report.Node{Ref: o.In(""), Missing: true})
			}
			doc.Edges = append(doc.Edges, report.Edge{Dependent: ref.UID, Owner: o.UID, Class: report.UnknownClass})
		}
	}
	return doc
}

const namespace = "kubectl_gc"

// The metrics. None has a label that a user of the cluster can choose, such as a name, a namespace
// or a kind.
var (
	objectsGauge = gauge("objects", "Objects in the graph, those that are only referred to included.")
	queueGauge   = gaugeVec("queue_depth", "Attempts that are ready, and those that wait to be repeated.", "state")
	kindsGauge   = gaugeVec("kinds", "Kinds that are followed, by what is known of them.", "state")
	trippedGauge = gaugeVec("safety_limit_tripped", "1 when that has tripped the safety limit: nothing is written until a person has looked.", "cause")
	leaderGauge  = gauge("leader", "1 when this process may write as far as the lease is concerned.")
	syncedGauge  = gauge("synced", "1 when every kind was read once or is known to be broken.")

	decisionsTotal = counterVec("decisions_total", "Finished attempts by reason, and by what became of their requests.", "reason", "outcome")
	unknownTotal   = counterVec("unknown_total", "Finished attempts that kept an object because something is not known.", "reason")
	requestsTotal  = counterVec("requests_total", "Requests about objects, by verb and status code.", "verb", "code")
)

var register = sync.OnceFunc(func() {
	legacyregistry.MustRegister(objectsGauge, queueGauge, kindsGauge, trippedGauge, leaderGauge, syncedGauge,
		decisionsTotal, unknownTotal, requestsTotal)
})

func gauge(name, help string) *metrics.Gauge {
	return metrics.NewGauge(&metrics.GaugeOpts{Namespace: namespace, Name: name, Help: help, StabilityLevel: metrics.ALPHA})
}

func gaugeVec(name, help string, labels ...string) *metrics.GaugeVec {
	return metrics.NewGaugeVec(&metrics.GaugeOpts{Namespace: namespace, Name: name, Help: help, StabilityLevel: metrics.ALPHA}, labels)
}

func counterVec(name, help string, labels ...string) *metrics.CounterVec {
	return metrics.NewCounterVec(&metrics.CounterOpts{Namespace: namespace, Name: name, Help: help, StabilityLevel: metrics.ALPHA}, labels)
}

// measure updates the gauges of a collector.
func measure(c *engine.Collector) {
	objectsGauge.Set(float64(c.Graph().Len()))
	queueGauge.WithLabelValues("ready").Set(float64(c.Ready()))
	queueGauge.WithLabelValues("deferred").Set(float64(c.DeferredCount()))
}

// measureKinds updates the gauge of the kinds.
func measureKinds(kinds []kube.KindState) {
	count := map[kube.State]int{kube.Syncing: 0, kube.Synced: 0, kube.Broken: 0}
	for _, k := range kinds {
		count[k.State]++
	}
	for state, n := range count {
		kindsGauge.WithLabelValues(state.String()).Set(float64(n))
	}
}

// measureLimit updates the gauge of the safety limit.
func measureLimit(b *circuitBreaker) {
	tripped, _ := b.state()
	for _, c := range []cause{deletesPerMinute, garbageShare, remembered} {
		trippedGauge.WithLabelValues(string(c)).Set(flag(c == tripped))
	}
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}
