package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// link is the program's way to the API server, where a story has it fail.
type link struct {
	to     string
	listen net.Listener

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

// connect opens a way to the server at an address.
func connect(server string) (*link, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{to: u.Host, listen: listen, conns: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := listen.Accept()
			if err != nil {
				return // it was closed
			}
			go l.carry(c)
		}
	}()
	return l, nil
}

func (l *link) url() string { return "https://" + l.listen.Addr().String() }

// carry passes on what both sides say, until one of them ends or the way does.
func (l *link) carry(here net.Conn) {
	defer func() { _ = here.Close() }()
	there, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer func() { _ = there.Close() }()
	if !l.hold(here, there) {
		return
	}
	go func() {
		_, _ = io.Copy(there, here)
		_ = there.Close()
	}()
	_, _ = io.Copy(here, there)
	l.mu.Lock()
	delete(l.conns, here)
	delete(l.conns, there)
	l.mu.Unlock()
}

// hold notes a connection, and reports whether there is one to be had.
func (l *link) hold(both ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range both {
		l.conns[c] = true
	}
	return !l.down
}

// cut ends every connection, in the middle of whatever is being said; for good, there are
// no others until it is mended.
func (l *link) cut(forGood bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = forGood
	for c := range l.conns {
		_ = c.Close()
	}
	clear(l.conns)
}

func (l *link) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}

func (l *link) close() { _ = l.listen.Close(); l.cut(true) }

// gate is the program's way to the API server where a kind stops being served: its objects stay
// in storage, discovery leaves it out, and requests about it are answered with 404. One kind is
// shared by the worlds of many stories, so that only one program sees it go.
type gate struct {
	*httptest.Server
	plural string

	mu   sync.Mutex
	gone chan struct{} // closed while the kind is not served
}

// gated opens a way to the server on which a kind can be taken away.
func gated(server string, client *http.Client, plural string) (*gate, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	g := &gate{plural: plural, gone: make(chan struct{})}
	reverse := &httputil.ReverseProxy{
		Transport: client.Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(u)
			r.Out.Header.Del("Accept-Encoding") // answers of discovery are read here
		},
		ModifyResponse: g.answered,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ErrorLog:       log.New(io.Discard, "", 0), // of watches that end
		FlushInterval:  -1,                         // watches
	}
	g.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.about(r.URL.Path) {
			reverse.ServeHTTP(w, r)
			return
		}
		if g.closed() {
			http.NotFound(w, r)
			return
		}
		ctx, stop := context.WithCancel(r.Context())
		defer stop()
		if r.URL.Query().Has("watch") { // the server ends the watches of a kind that goes
			g.mu.Lock()
			gone := g.gone
			g.mu.Unlock()
			go func() {
				select {
				case <-gone:
					stop()
				case <-ctx.Done():
				}
			}()
		}
		reverse.ServeHTTP(w, r.WithContext(ctx))
	}))
	return g, nil
}

// authority is the certificate that the gate shows.
func (g *gate) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Certificate().Raw})
}

// about reports whether a path is of the kind.
func (g *gate) about(path string) bool {
	rest, ok := strings.CutPrefix(path, "/apis/"+group+"/v1/")
	return ok && slices.Contains(strings.Split(rest, "/"), g.plural)
}

func (g *gate) closed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.gone:
		return true
	default:
		return false
	}
}

// shut has the kind no longer be served.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.gone)
}

// reopen has the kind be served again, if it was not.
func (g *gate) reopen() {
	if !g.closed() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = make(chan struct{})
}

// answered leaves the kind out of the answers of discovery, while it is not served.
func (g *gate) answered(a *http.Response) error {
	path := strings.TrimSuffix(a.Request.URL.Path, "/")
	if !g.closed() || path != "/apis" && path != "/apis/"+group+"/v1" || a.StatusCode != http.StatusOK {
		return nil
	}
	text, err := io.ReadAll(a.Body)
	if err := errors.Join(err, a.Body.Close()); err != nil {
		return err
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	g.leaveOut(document)
	if text, err = json.Marshal(document); err != nil {
		return err
	}
	a.Body, a.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	a.Header.Del("Content-Length")
	a.Header.Del("Etag")
	return nil
}

// leaveOut removes the kind from a document of discovery, aggregated or of one version.
func (g *gate) leaveOut(at any) {
	switch x := at.(type) {
	case map[string]any:
		for field, value := range x {
			if list, ok := value.([]any); ok && field == "resources" {
				x[field] = slices.DeleteFunc(list, func(r any) bool {
					m, _ := r.(map[string]any)
					name, _ := m["name"].(string)
					return m["resource"] == g.plural || name == g.plural || strings.HasPrefix(name, g.plural+"/")
				})
				continue
			}
			g.leaveOut(value)
		}
	case []any:
		for _, one := range x {
			g.leaveOut(one)
		}
	}
}
