package controller

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// transport is the last thing before the wire: it counts what the collector asks and
// writes, and lets no write through that must not start now. A request may have
// waited for a limiter, or for a pause that the server has asked for, since the gate
// has seen it.
type transport struct {
	next http.RoundTripper
	gate *gate
}

// WrappedRoundTripper is what sends requests in the end.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip sends the request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	verb := verbOf(r)
	send := t.next.RoundTrip
	if r.Method != http.MethodGet {
		send = t.write
	}
	response, err := send(r)
	code := "error"
	if err == nil {
		code = strconv.Itoa(response.StatusCode)
	}
	requestsTotal.WithLabelValues(verb, code).Inc()
	return response, err
}

// write sends a write. It may have to wait for a connection, so it is called back
// when the lease is lost before the answer has come.
func (t *transport) write(r *http.Request) (*http.Response, error) {
	if err := t.gate.mayWrite(); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	if t.gate.fence == nil {
		return t.next.RoundTrip(r)
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(t.gate.fence.lost, cancel)
	response, err := t.next.RoundTrip(r.WithContext(ctx))
	stop()
	if err != nil {
		cancel()
		return nil, err
	}
	response.Body = &release{response.Body, cancel}
	return response, nil
}

// release is the body of an answer whose end frees what the request has taken.
type release struct {
	io.ReadCloser
	free func()
}

// Close closes the body.
func (r *release) Close() error {
	defer r.free()
	return r.ReadCloser.Close()
}

// verbOf is what a request does in the words of Kubernetes.
func verbOf(r *http.Request) string {
	switch {
	case r.Method != http.MethodGet:
		return strings.ToLower(r.Method)
	case r.URL.Query().Get("watch") != "":
		return "watch"
	case strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList"):
		return "list"
	default:
		return "get"
	}
}
