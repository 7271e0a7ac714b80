package interpose

import (
	"io"
	"slices"
	"strings"
)

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
