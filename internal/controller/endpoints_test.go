package controller

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A process is ready if it does its work, not just because it runs.
func TestReady(t *testing.T) {
	running := make(chan struct{})
	for _, c := range []struct {
		name    string
		service func(*service)
		code    int
		says    state
	}{
		{"nothing is known yet", func(*service) {}, http.StatusServiceUnavailable, starting},
		{"another replica leads", func(s *service) { s.lead = true }, http.StatusOK, waiting},
		{"the lease is forbidden", func(s *service) { s.lead, s.barred = true, errDown }, http.StatusServiceUnavailable, shutOut},
		{"it leads and lists", func(s *service) { s.lead, s.running = true, running }, http.StatusServiceUnavailable, syncing},
		{"the safety limit had tripped before it lists", func(s *service) {
			s.lead, s.running = true, running
			s.gate.breaker.trip(remembered, "too much garbage")
		}, http.StatusServiceUnavailable, tripped},
	} {
		s, _ := replica(held())
		c.service(s)
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
		if got := strings.TrimSpace(w.Body.String()); w.Code != c.code || got != string(c.says) {
			t.Errorf("%s: %d %q, want %d %q", c.name, w.Code, got, c.code, c.says)
		}
	}
}

// The metrics name the cause, and do not claim that anything was read.
func TestMetricsOfATrippedLimit(t *testing.T) {
	register()
	s, _ := replica(held())
	s.gate.breaker.trip(garbageShare, "too much garbage")
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	for _, want := range []string{
		`kubectl_gc_safety_limit_tripped{cause="GarbageShare"} 1`, `kubectl_gc_safety_limit_tripped{cause="DeletesPerMinute"} 0`,
		`kubectl_gc_safety_limit_tripped{cause="Remembered"} 0`, "kubectl_gc_synced 0", "kubectl_gc_leader 0",
	} {
		if !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("no %s", want)
		}
	}
}
