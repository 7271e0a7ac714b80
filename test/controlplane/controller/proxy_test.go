package controller

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// proxy stands between one controller and the API server and notes what it asks.
type proxy struct {
	url string

	mu     sync.Mutex
	asked  []string // without the watches and the lease
	renews int
}

func startProxy(t *testing.T) *proxy {
	t.Helper()
	to, err := url.Parse(plane.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{}
	reverse := &httputil.ReverseProxy{
		Transport: plane.Client().Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Set("Authorization", "Bearer "+plane.Token)
		},
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ErrorLog:      log.New(io.Discard, "", 0), // of watches that are cut
		FlushInterval: -1,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.note(r)
		reverse.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p.url = server.URL
	return p
}

func (p *proxy) note(r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.URL.Query().Get("watch") != "":
	case strings.HasSuffix(r.URL.Path, "/leases/kubectl-gc"):
		if r.Method == http.MethodPut {
			p.renews++
		}
	default:
		p.asked = append(p.asked, r.Method+" "+r.URL.Path)
	}
}

func (p *proxy) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = nil
}

// others are the requests that are neither watches nor about the lease.
func (p *proxy) others() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// writes are the requests that change objects.
func (p *proxy) writes() []string {
	return slices.DeleteFunc(p.others(), func(a string) bool {
		return !strings.HasPrefix(a, http.MethodDelete) && !strings.HasPrefix(a, http.MethodPatch)
	})
}

func (p *proxy) leases() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renews
}
