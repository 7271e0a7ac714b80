// Package interpose stands between the garbage collector of Kubernetes and an API
// server. Tests hold, refuse and change what the two say to each other, and read
// what the collector asked.
package interpose

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// proxy passes requests of one collector on to the API server, in the name of its
// administrator.
//
// Several collectors share one cluster. So that they do not take away from each
// other what is to be seen, each may write in its realm alone: where the path of a
// request contains that word. It is refused elsewhere.
type proxy struct {
	URL   string
	realm string

	server    *http.Server
	transport *http.Transport
	reverse   *httputil.ReverseProxy

	mu        sync.Mutex
	requests  []*request
	streams   []*stream
	rules     []*rule
	gates     map[string]chan struct{} // by path; what is closed is open
	discovery view
	looking   map[string]view // by user agent: what the look that has begun is shown
}

// startProxy serves on a free port of the loopback interface.
func startProxy(c *cluster.Cluster, realm string) (*proxy, error) {
	server, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	transport, ok := c.Client().Transport.(*http.Transport)
	if !ok {
		return nil, errors.New("the cluster's client has a transport of an unknown kind")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{URL: "http://" + l.Addr().String(), realm: realm, transport: transport.Clone(), gates: map[string]chan struct{}{}, looking: map[string]view{}}
	p.reverse = &httputil.ReverseProxy{
		Transport: p.transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Header.Set("Authorization", "Bearer "+c.Token)
			r.Out.Header.Del("Accept-Encoding") // the transport's own affair
			if accept := r.Out.Header.Get("Accept"); r.Out.Method == http.MethodGet && strings.Contains(accept, "as=PartialObjectMetadata;") {
				r.Out.Header.Set("Accept", jsonOnly(accept))
			}
		},
		ModifyResponse: p.answered,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ErrorLog:       log.New(io.Discard, "", 0), // of watches that are cut
		FlushInterval:  -1,                         // watches
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(l) }() // ends with Close, and says so
	return p, nil
}

// stop ends everything that goes through.
func (p *proxy) stop() error {
	err := p.server.Close()
	p.transport.CloseIdleConnections()
	return err
}

// jsonOnly leaves of the media types that a client accepts those in JSON, so that
// what it is answered can be read.
func jsonOnly(accept string) string {
	var kept []string
	for kind := range strings.SplitSeq(accept, ",") {
		if strings.HasPrefix(strings.TrimSpace(kind), "application/json") {
			kept = append(kept, strings.TrimSpace(kind))
		}
	}
	return strings.Join(kept, ",")
}

// ServeHTTP answers one request of the collector, after the rule that fits.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	q := p.note(r, body)
	if rule := p.rule(q); rule != nil {
		if rule.status != 0 {
			p.refuse(w, q, rule.status)
			return
		}
		close(rule.arrived)
		select {
		case <-rule.released:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case r.Method != http.MethodGet && !strings.Contains(r.URL.Path, p.realm):
		p.refuse(w, q, http.StatusForbidden)
	default:
		p.reverse.ServeHTTP(w, r.WithContext(withRequest(r.Context(), q)))
	}
}

// refuse answers as an API server does that will not.
func (p *proxy) refuse(w http.ResponseWriter, q *request, code int) {
	status := apierrors.NewGenericServerResponse(code, strings.ToLower(q.method), schema.GroupResource{}, q.path, "refused by the test", 0, true).Status()
	status.APIVersion, status.Kind = "v1", "Status"
	p.finish(q, code, nil)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(status) // who does not read it any more has ended
}

// answered sees every answer of the API server before the collector does.
func (p *proxy) answered(a *http.Response) error {
	q := requestOf(a.Request.Context())
	switch {
	case q.path == "/api" || q.path == "/apis":
		return p.discovered(q, a)
	case q.method == http.MethodGet && a.StatusCode == http.StatusOK && collection(q.path):
		a.Body = p.stream(q, a.Body, a.Request.Context().Done())
		p.finish(q, a.StatusCode, nil)
		return nil
	case q.method == http.MethodGet && strings.Contains(a.Header.Get("Content-Type"), "json"):
		text, err := replaceBody(a, func(text []byte) ([]byte, error) { return text, nil })
		p.finish(q, a.StatusCode, text)
		return err
	default:
		p.finish(q, a.StatusCode, nil)
		return nil
	}
}

// replaceBody reads an answer, changes it, and puts it back.
func replaceBody(a *http.Response, change func([]byte) ([]byte, error)) ([]byte, error) {
	text, err := io.ReadAll(a.Body)
	if err := errors.Join(err, a.Body.Close()); err != nil {
		return nil, err
	}
	if text, err = change(text); err != nil {
		return nil, err
	}
	a.Body, a.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	a.Header.Del("Content-Length")
	a.Header.Del("Etag")
	return text, nil
}
