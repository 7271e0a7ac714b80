package controller

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// transport is the last step before the wire. It counts the collector's requests, and blocks writes
// that must not start now. A request may have waited for a rate limiter, or for a pause that the
// server asked for, since it passed the gate.
type transport struct {
	next http.RoundTripper
	gate *gate
}

// WrappedRoundTripper returns the wrapped transport.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip sends the request, unless it is a write that must not start.
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

// write sends a write. It may have to wait for a connection, so it is cancelled if the lease is
// lost before the response arrives.
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

// release is the body of a response that calls free when it is closed.
type release struct {
	io.ReadCloser
	free func()
}

// Close closes the body.
func (r *release) Close() error {
	defer r.free()
	return r.ReadCloser.Close()
}

// verbOf returns the Kubernetes verb of a request.
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
