package deleters

import (
	"net/http"
	"sync"
)

// traffic counts the writes on their way to the server.
type traffic struct {
	mu sync.Mutex
	// begun and underWay are the writes so far, and those without an answer.
	begun    uint64
	underWay int
}

// wrap has a transport counted.
func (t *traffic) wrap(next http.RoundTripper) http.RoundTripper { return counted{next, t} }

// writes is the number of writes so far, and whether there is one under way.
func (t *traffic) writes() (begun uint64, underWay bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.begun, t.underWay > 0
}

func (t *traffic) add(begun uint64, underWay int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun += begun
	t.underWay += underWay
}

// counted is a transport whose writes are counted.
type counted struct {
	next    http.RoundTripper
	traffic *traffic
}

// WrappedRoundTripper is what sends requests in the end.
func (c counted) WrappedRoundTripper() http.RoundTripper { return c.next }

// RoundTrip sends a request.
func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return c.next.RoundTrip(r)
	}
	c.traffic.add(1, 1)
	defer c.traffic.add(0, -1)
	return c.next.RoundTrip(r)
}
