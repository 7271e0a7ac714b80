package deleters

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// traffic tracks the writes in progress.
type traffic struct {
	mu sync.Mutex
	// begun is the number of writes so far.
	begun uint64
	// open are the writes without a response.
	open map[*http.Request]string
}

// wrap wraps a transport to track its writes.
func (t *traffic) wrap(next http.RoundTripper) http.RoundTripper { return watched{next, t} }

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

func (t *traffic) begin(r *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[*http.Request]string{}
	}
	t.begun++
	t.open[r] = r.Method + " " + r.URL.EscapedPath()
}

func (t *traffic) end(r *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, r)
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
	w.traffic.begin(r)
	defer w.traffic.end(r)
	return w.next.RoundTrip(r)
}

// maxDeletes is the number of the latest deletes that are remembered.
const maxDeletes = 1 << 12

// deletes has the collector's latest accepted deletes. It is safe for concurrent use.
type deletes struct {
	mu sync.Mutex
	// n is the number of all deletes. last has the latest ones at index n modulo maxDeletes.
	n    uint64
	last []object.Ref
}

// note records the deletes of an attempt.
func (d *deletes) note(r engine.Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range r.Exchanges {
		if x.Verb != object.Delete || x.Err != nil {
			continue
		}
		if len(d.last) < maxDeletes {
			d.last = append(d.last, x.Ref)
		} else {
			d.last[d.n%maxDeletes] = x.Ref
		}
		d.n++
	}
}

// count returns the number of deletes so far.
func (d *deletes) count() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n
}

// recreatedOften is how many deletes of one name mean that it is recreated on purpose.
const recreatedOften = 3

// recreated names the objects that were deleted often since a number of deletes, each time with
// another uid: something recreates them.
func (d *deletes) recreated(since uint64) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	times, counted := map[object.Ref]int{}, map[object.Ref]bool{}
	for i := max(since, d.n-uint64(len(d.last))); i < d.n; i++ {
		if ref := d.last[i%maxDeletes]; !counted[ref] {
			counted[ref] = true
			times[ref.WithoutUID()]++
		}
	}
	var list []string
	for ref, n := range times {
		if n >= recreatedOften {
			list = append(list, fmt.Sprintf("%s was deleted %d times since: something creates it again", ref, n))
		}
	}
	slices.Sort(list)
	return truncate(list)
}
