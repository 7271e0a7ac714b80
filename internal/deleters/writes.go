package deleters

import (
	"net/http"
	"slices"
	"sync"
)

// traffic tracks the writes in progress.
type traffic struct {
	mu sync.Mutex
	// begun is the number of writes so far.
	begun uint64
	// open are the writes without a response.
	open map[*http.Request]string
}

// writes returns the number of writes so far, and whether one is in progress.
func (t *traffic) writes() (begun uint64, underWay bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.begun, len(t.open) > 0
}

// unanswered describes the writes in progress.
func (t *traffic) unanswered() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []string
	for _, what := range t.open {
		list = append(list, "no answer yet to "+what)
	}
	slices.Sort(list)
	return truncate(list)
}

// watched is a transport whose writes are tracked.
type watched struct {
	next    http.RoundTripper
	traffic *traffic
}

// WrappedRoundTripper returns the wrapped transport.
func (w watched) WrappedRoundTripper() http.RoundTripper { return w.next }

// RoundTrip sends a request.
func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return w.next.RoundTrip(r)
	}
	t := w.traffic
	t.mu.Lock()
	if t.open == nil {
		t.open = map[*http.Request]string{}
	}
	t.begun++
	t.open[r] = r.Method + " " + r.URL.EscapedPath()
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, r)
	}()
	return w.next.RoundTrip(r)
}
