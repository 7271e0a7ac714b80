package differential

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// recorder writes into a book what goes through it to a server.
type recorder struct {
	http.Handler
	resources *object.Resources
	book      *book
}

// ServeHTTP passes a request on. Of one that changes something it notes what it
// says and whether it succeeded. Events are not noted: that a collector tells the
// same thing again is a patch of the Event that it made before, and no world has any.
func (r recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	t, ok := facade.TargetOf(r.resources, strings.Trim(request.URL.Path, "/"))
	if !ok || t.Resource.Name == "events" || request.Method != http.MethodDelete && request.Method != http.MethodPatch {
		r.Handler.ServeHTTP(w, request)
		return
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	noted := &noting{ResponseWriter: w, note: func(code int) {
		r.book.note(request.Method, t.Ref(), request.Header.Get("Content-Type"), body, code < http.StatusMultipleChoices)
	}}
	r.Handler.ServeHTTP(noted, request)
	noted.WriteHeader(http.StatusOK) // unless it was answered otherwise
}

// noting is an answer whose status is noted before anybody sees it.
type noting struct {
	http.ResponseWriter
	note func(code int)
	sent bool
}

// WriteHeader notes the status, once.
func (n *noting) WriteHeader(code int) {
	if n.sent {
		return
	}
	n.sent = true
	n.note(code)
	n.ResponseWriter.WriteHeader(code)
}

// Write is an answer that says no status: it is a success.
func (n *noting) Write(text []byte) (int, error) {
	n.WriteHeader(http.StatusOK)
	return n.ResponseWriter.Write(text)
}

// serve serves on a free port of the loopback interface until it is closed.
func serve(h http.Handler) (*http.Server, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }() // ends with Close, and says so
	return s, "http://" + l.Addr().String(), nil
}

// proxy passes every request on to the API server as it is, in the name of its
// administrator.
func (l *live) proxy() (http.Handler, error) {
	server, err := url.Parse(l.URL)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Transport: l.Client().Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Header.Set("Authorization", "Bearer "+l.Token)
		},
		FlushInterval: -1, // watches
	}, nil
}
