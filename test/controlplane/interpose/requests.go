package interpose

import (
	"context"
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
