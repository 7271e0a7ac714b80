package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// asked is a request as faults look at it.
type asked struct {
	// verb is get, list, watch, delete, patch or discover.
	verb   string
	target facade.Target
	query  url.Values
}

// at matches requests: a verb or "", a resource or "", a name or "".
func at(verb, resource, name string) func(asked) bool {
	return func(a asked) bool {
		return (verb == "" || verb == a.verb) && (resource == "" || resource == a.target.Resource.Name) && (name == "" || name == a.target.Name)
	}
}

// answering answers a request, by itself or with the help of the true server.
type answering func(w http.ResponseWriter, r *http.Request, server http.Handler)

// fault is something that goes wrong, until it is lifted.
type fault struct {
	match func(asked) bool
	do    answering
	// left is how often it still strikes; negative forever.
	left   atomic.Int64
	struck atomic.Int64
}

// lift ends the fault.
func (f *fault) lift() { f.left.Store(0) }

// strikes reports whether the fault takes a request.
func (f *fault) strikes(a asked) bool {
	if !f.match(a) {
		return false
	}
	for {
		left := f.left.Load()
		if left == 0 {
			return false
		}
		if left < 0 || f.left.CompareAndSwap(left, left-1) {
			f.struck.Add(1)
			return true
		}
	}
}

// refused answers with an error.
func refused(err error) answering {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { facade.Refuse(w, err) }
}

// text answers with something that no API server says.
func text(code int, contentType, body string) answering {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// unserved is what stands where no path is served.
var unserved = text(http.StatusNotFound, "text/plain; charset=utf-8", "404 page not found\n")

// reset breaks the connection instead of an answer.
func reset(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// after carries the request out and then answers otherwise.
func after(do answering) answering {
	return func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		server.ServeHTTP(httptest.NewRecorder(), r)
		do(w, r, server)
	}
}

// held is a request that does not get an answer until it is let go.
type held struct {
	came, free chan struct{}
	first      sync.Once
}

func hold() *held { return &held{came: make(chan struct{}), free: make(chan struct{})} }

func (h *held) answer(w http.ResponseWriter, r *http.Request, server http.Handler) {
	h.first.Do(func() { close(h.came) })
	select {
	case <-h.free:
		server.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

// edited changes the text of the true answer.
func edited(change func(text []byte) []byte) answering {
	return func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		true_ := httptest.NewRecorder()
		server.ServeHTTP(true_, r)
		body := true_.Body.Bytes()
		if true_.Code == http.StatusOK {
			body = change(body)
		}
		w.Header().Set("Content-Type", true_.Header().Get("Content-Type"))
		w.WriteHeader(true_.Code)
		_, _ = w.Write(body)
	}
}

// document is an answer as JSON.
type document struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]any    `json:"metadata"`
	Items      []json.RawMessage `json:"items,omitempty"`
}

// remade changes the true answer as JSON.
func remade(change func(*document)) answering {
	return edited(func(text []byte) []byte {
		var d document
		if err := json.Unmarshal(text, &d); err != nil {
			panic(err)
		}
		change(&d)
		made := compact(d)
		if strings.HasSuffix(d.Kind, "List") && len(d.Items) == 0 {
			made = strings.TrimSuffix(made, "}") + `,"items":[]}`
		}
		return []byte(made)
	})
}

// emptied is a list that shows nothing.
var emptied = remade(func(d *document) { d.Items = nil })

// cut sends half of the true answer as if it were all.
var cut = edited(func(text []byte) []byte { return text[:len(text)/2] })

// watches are the watches that are open, by resource.
type watches struct {
	mu   sync.Mutex
	open map[*watching]struct{}
}

// watching is one open watch.
type watching struct {
	http.ResponseWriter
	resource string
	end      context.CancelFunc

	mu     sync.Mutex
	opened bool // the client has seen the head of the answer
	muted  bool
	last   []byte
}

// Write sends frames on, unless the watch is muted.
func (w *watching) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.muted {
		return len(text), nil
	}
	return w.ResponseWriter.Write(text)
}

// Flush sends what was written.
func (w *watching) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ResponseWriter.(http.Flusher).Flush()
	w.opened = true
}

// serve serves a watch so that it can be disturbed.
func (s *watches) serve(w http.ResponseWriter, r *http.Request, resource string, server http.Handler) {
	ctx, end := context.WithCancel(r.Context())
	defer end()
	this := &watching{ResponseWriter: w, resource: resource, end: end}
	s.mu.Lock()
	s.open[this] = struct{}{}
	s.mu.Unlock()
	server.ServeHTTP(this, r.WithContext(ctx))
	s.mu.Lock()
	delete(s.open, this)
	s.mu.Unlock()
	this.mu.Lock()
	defer this.mu.Unlock()
	_, _ = w.Write(this.last)
}

// disturb does something to every open watch of a resource, and tells how many
// there were.
func (s *watches) disturb(resource string, do func(*watching)) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for w := range s.open {
		if w.resource != resource {
			continue
		}
		w.mu.Lock()
		if w.opened {
			do(w)
			n++
		}
		w.mu.Unlock()
	}
	return n
}

// expired ends a watch with the error 410.
func expired(w *watching) {
	w.opened = false
	w.last = []byte(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"too old resource version","reason":"Expired","code":410}}` + "\n")
	w.end()
}

// mute drops all that comes from now on.
func mute(w *watching) { w.muted = true }

// frames sends events that never happened.
func frames(events ...string) func(*watching) {
	return func(w *watching) {
		_, _ = w.ResponseWriter.Write([]byte(strings.Join(events, "\n") + "\n"))
		w.ResponseWriter.(http.Flusher).Flush()
	}
}

// compact is JSON on one line.
func compact(v any) string {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}
