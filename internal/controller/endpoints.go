package controller

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// glance is how long a response waits for the collector.
const glance = 5 * time.Second

var errBusy = errors.New("the garbage collector does not answer")

// look calls f with the collector between two steps. It returns errIdle if this process does not
// collect, and errBusy after glance.
func (s *service) look(ctx context.Context, f func(*engine.Collector)) error {
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	if running == nil {
		return errIdle
	}
	ctx, cancel := context.WithTimeout(ctx, glance)
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
	if err := s.look(r.Context(), func(*engine.Collector) {}); err != nil && !errors.Is(err, errIdle) {
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
	if err := s.look(r.Context(), measure); errors.Is(err, errIdle) {
		measure(idle)
	}
	legacyregistry.Handler().ServeHTTP(w, r)
}

// idle is the state of a process that does not collect.
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
	var uids []types.UID
	for _, uid := range r.URL.Query()["uid"] {
		uids = append(uids, types.UID(uid))
	}
	var doc *report.Graph
	err := s.look(r.Context(), func(c *engine.Collector) { doc = picture(c, uids, s.client.Resource) })
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
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: glance, MaxHeaderBytes: 1 << 16}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l) // always returns an error after Close
	}()
	return l.Addr().String(), func() { _ = server.Close(); <-ended }, nil
}
