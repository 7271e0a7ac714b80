package commands

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
)

// exchanged is a write that went over a proxy.
type exchanged struct {
	method, path, body string
	// code is the answer of the server, whether or not it was handed on; 0 when it was
	// not asked.
	code int
}

// proxy stands between a command and the API server and notes what is written.
type proxy struct {
	url string
	// lose reports whether the connection breaks when the server has done the work, so
	// that its answer is lost; cut, whether it breaks before the server is asked. Nil
	// for never.
	lose, cut func(exchanged) bool
	// busy reports whether the answer is 429, as a proxy may give it that has passed the request
	// on, or not, if cut reports so, too. Nil for never.
	busy func(exchanged) bool

	mu  sync.Mutex
	all []exchanged
	dry []exchanged // with dryRun
	// whole are the paths of GETs that do not ask for metadata only.
	whole []string
}

// proxy starts one. Writes of questions (reviews) and dry runs are no writes.
func (s *stage) proxy(lose func(exchanged) bool) *proxy {
	s.t.Helper()
	to, err := url.Parse(plane.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &proxy{lose: lose}
	reverse := &httputil.ReverseProxy{
		Transport: plane.Client().Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Set("Authorization", "Bearer "+plane.Token)
		},
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ErrorLog:      log.New(io.Discard, "", 0),
		FlushInterval: -1,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
			p.mu.Lock()
			p.whole = append(p.whole, r.URL.Path)
			p.mu.Unlock()
		}
		if r.Method == http.MethodGet || strings.Contains(r.URL.Path, "authorization.k8s.io") || strings.Contains(r.URL.Path, "authentication.k8s.io") {
			reverse.ServeHTTP(w, r)
			return
		}
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(sent))
		x := exchanged{method: r.Method, path: r.URL.Path, body: string(sent)}
		if strings.Contains(x.body, `"dryRun"`) || r.URL.Query().Get("dryRun") != "" {
			p.mu.Lock()
			p.dry = append(p.dry, x)
			p.mu.Unlock()
			reverse.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		if cut := p.cut != nil && p.cut(x); !cut {
			reverse.ServeHTTP(answer, r)
			x.code = answer.Code
		}
		p.mu.Lock()
		p.all = append(p.all, x)
		p.mu.Unlock()
		if p.busy != nil && p.busy(x) {
			w.Header().Set("Retry-After", "0")
			http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
			return
		}
		if x.code == 0 || p.lose != nil && p.lose(x) {
			if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = c.Close()
			}
			return
		}
		for key, values := range answer.Header() {
			w.Header()[key] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	s.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p.url = server.URL
	return p
}

// flags send a command over the proxy.
func (p *proxy) flags() []string {
	return []string{"--server=" + p.url, "--insecure-skip-tls-verify"}
}

func (p *proxy) writes() []exchanged {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

// rehearsed are the writes that were only tried.
func (p *proxy) rehearsed() []exchanged {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.dry)
}

// at has something happen at every point of a run.
func (s *stage) at(do func(point string)) context.Context {
	return apply.WithFailpoints(s.ctx, do)
}

// confirmation is the flag that confirms the plan that a command has now.
func (s *stage) confirmation(args ...string) string {
	s.t.Helper()
	dry := s.gc(s.ctx, append(args, "--dry-run")...)
	found := digests.FindStringSubmatch(dry.stderr)
	if dry.code != 0 || found == nil {
		s.t.Fatalf("%v --dry-run: %+v", args, dry)
	}
	return "--confirm=" + found[1]
}

// uid is that of a ConfigMap.
func (s *stage) uid(name string) string {
	s.t.Helper()
	return s.says("configmaps", `{.items[?(@.metadata.name=="`+name+`")].metadata.uid}`)
}
