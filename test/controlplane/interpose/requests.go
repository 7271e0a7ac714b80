package interpose

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// request is one request of the collector, and how it was answered.
type request struct {
	method, path, query, contentType string

	body []byte
	at   time.Time
	// code is 0 until it is answered.
	code int
	// answer is the object that was read; nil for other requests.
	answer []byte
}

type requestKey struct{}

func withRequest(ctx context.Context, q *request) context.Context {
	return context.WithValue(ctx, requestKey{}, q)
}

func requestOf(ctx context.Context) *request { return ctx.Value(requestKey{}).(*request) }

func (p *proxy) note(r *http.Request, body []byte) *request {
	q := &request{
		method: r.Method, path: r.URL.Path, query: r.URL.RawQuery, contentType: r.Header.Get("Content-Type"),
		body: body, at: time.Now(),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, q)
	return q
}

func (p *proxy) finish(q *request, code int, answer []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.code, q.answer = code, answer
}

// pattern fits requests. What is empty fits all.
type pattern struct {
	method string
	// path is how the path ends.
	path string
	// body is a part of it.
	body string
}

func (x pattern) fits(q *request) bool {
	return (x.method == "" || x.method == q.method) && strings.HasSuffix(q.path, x.path) && strings.Contains(string(q.body), x.body)
}

// asked are copies of the requests so far that fit, in the order in which they
// came.
func (p *proxy) asked(x pattern) []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []request
	for _, q := range p.requests {
		if x.fits(q) {
			list = append(list, *q)
		}
	}
	return list
}

// forget forgets the requests so far.
func (p *proxy) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = nil
}

// rule is what happens to a request that fits: it is refused with a status, or held.
type rule struct {
	pattern
	status int
	// times is how often it is used; below zero without end.
	times int
	// arrived is closed when a request is held, and goes on when released is closed.
	arrived, released chan struct{}
}

// rule finds the first rule for a request and uses it.
func (p *proxy) rule(q *request) *rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.rules, func(r *rule) bool { return r.fits(q) })
	if i < 0 {
		return nil
	}
	r := p.rules[i]
	if r.times--; r.times == 0 {
		p.rules = slices.Delete(p.rules, i, i+1)
	}
	return r
}

// hold stops the next request that fits until the rule is released. Rules for
// equal requests are used one after the other.
func (p *proxy) hold(x pattern) *rule {
	return p.add(&rule{pattern: x, times: 1, arrived: make(chan struct{}), released: make(chan struct{})})
}

// answer has requests that fit refused with a status, that often; below zero until
// the rule is lifted.
func (p *proxy) answer(x pattern, status, times int) *rule {
	return p.add(&rule{pattern: x, times: times, status: status})
}

func (p *proxy) add(r *rule) *rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, r)
	return r
}

// lift takes a rule away.
func (p *proxy) lift(r *rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = slices.DeleteFunc(p.rules, func(o *rule) bool { return o == r })
}

// collection reports whether a path is that of all objects of a resource: those are
// listed and watched, and nothing else is asked of them by a collector.
func collection(path string) bool {
	words := strings.Split(strings.Trim(path, "/"), "/")
	return len(words) == 3 && words[0] == "api" || len(words) == 4 && words[0] == "apis"
}

// stream is a list or a watch that is being answered.
type stream struct {
	*request
	io.ReadCloser // from the API server
	proxy         *proxy
	gone          <-chan struct{} // closed when the collector does not wait any more
	ended         bool
}

func (p *proxy) stream(q *request, body io.ReadCloser, gone <-chan struct{}) *stream {
	s := &stream{request: q, ReadCloser: body, proxy: p, gone: gone}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streams = append(p.streams, s)
	return s
}

// Read reads what the API server says, and keeps it back while the gate is shut.
func (s *stream) Read(into []byte) (int, error) {
	n, err := s.ReadCloser.Read(into)
	s.proxy.mu.Lock()
	gate := s.proxy.gates[s.path]
	s.proxy.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-s.gone:
		}
	}
	return n, err
}

// Close ends the stream.
func (s *stream) Close() error {
	s.proxy.mu.Lock()
	s.ended = true
	s.proxy.mu.Unlock()
	return s.ReadCloser.Close()
}

// shut keeps back all lists and watches of a collection until the result is called.
// What the API server says meanwhile comes then.
func (p *proxy) shut(path string) (open func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gate := make(chan struct{})
	p.gates[path] = gate
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.gates[path] == gate {
			delete(p.gates, path)
			close(gate)
		}
	}
}

// watching are the collections that are watched now, sorted, each once.
func (p *proxy) watching() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var paths []string
	for _, s := range p.streams {
		if !s.ended && strings.Contains(s.query, "watch=true") {
			paths = append(paths, s.path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// cut ends the watches of a collection, as a server does that goes away.
func (p *proxy) cut(path string) error {
	p.mu.Lock()
	var bodies []io.Closer
	for _, s := range p.streams {
		if s.path == path && !s.ended {
			bodies = append(bodies, s.ReadCloser)
		}
	}
	p.mu.Unlock()
	for _, b := range bodies {
		if err := b.Close(); err != nil {
			return err
		}
	}
	return nil
}
