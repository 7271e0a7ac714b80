package lost

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// gauge counts what a client asks of an API server, by what kind of request it is.
type gauge struct {
	kubeconfig string
	dir        string
	server     *http.Server
	mu         sync.Mutex
	sent       map[string]*amount
}

type amount struct {
	requests int
	bytes    int64
}

// meter stands between a client and the API server.
func meter(c *cluster.Cluster) (*gauge, error) {
	server, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &gauge{sent: map[string]*amount{}}
	if g.dir, err = os.MkdirTemp("", "meter-"); err != nil {
		return nil, err
	}
	g.kubeconfig = filepath.Join(g.dir, "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: m\nclusters: [{name: m, cluster: {server: 'http://%s'}}]\ncontexts: [{name: m, context: {cluster: m}}]\n", l.Addr())
	if err := os.WriteFile(g.kubeconfig, []byte(text), 0o600); err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{
		Transport: c.Client().Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Header.Set("Authorization", "Bearer "+c.Token)
		},
		ModifyResponse: func(a *http.Response) error { a.Body = g.count(a.Request, a.Body); return nil },
		ErrorLog:       log.New(io.Discard, "", 0), // of watches that are cut
		FlushInterval:  -1,                         // watches
	}
	g.server = &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute}
	go func() { _ = g.server.Serve(l) }() // ends with Close, and says so
	return g, nil
}

func (g *gauge) close() {
	_ = g.server.Close()
	_ = os.RemoveAll(g.dir)
}

// kindOf says what a request is.
func kindOf(r *http.Request) string {
	words := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	q := r.URL.Query()
	past := ""
	if q.Get("resourceVersionMatch") == "Exact" || q.Get("continue") != "" {
		past = " of the past"
	}
	switch resource := words[len(words)-1]; {
	case len(words) < 3:
		return "discovery"
	case q.Get("watch") != "":
		return "watch"
	case q.Get("fieldSelector") != "":
		return "single object" + past
	case resource == "leases":
		return "list of leases" + past
	case past != "":
		return "list of " + resource + past
	default:
		return "get, list of now"
	}
}

func (g *gauge) count(r *http.Request, body io.ReadCloser) io.ReadCloser {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.sent[kindOf(r)]
	if a == nil {
		a = &amount{}
		g.sent[kindOf(r)] = a
	}
	a.requests++
	return &measured{body, g, a}
}

type measured struct {
	io.ReadCloser
	gauge *gauge
	to    *amount
}

// Read reads and counts.
func (m *measured) Read(into []byte) (int, error) {
	n, err := m.ReadCloser.Read(into)
	m.gauge.mu.Lock()
	defer m.gauge.mu.Unlock()
	m.to.bytes += int64(n)
	return n, err
}

// String is a line for each kind of request.
func (g *gauge) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var text strings.Builder
	var all amount
	for _, kind := range slices.Sorted(maps.Keys(g.sent)) {
		a := g.sent[kind]
		fmt.Fprintf(&text, "%6d %9d kB %s\n", a.requests, a.bytes>>10, kind)
		all.requests, all.bytes = all.requests+a.requests, all.bytes+a.bytes
	}
	fmt.Fprintf(&text, "%6d %9d kB in all", all.requests, all.bytes>>10)
	return text.String()
}
