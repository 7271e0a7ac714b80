package controller

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func request(t *testing.T, method, url, accept string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	return r
}

func TestVerbs(t *testing.T) {
	for _, c := range []struct{ method, url, accept, want string }{
		{http.MethodGet, "http://x/api/v1/pods", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "list"},
		{http.MethodGet, "http://x/api/v1/pods?watch=1", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "watch"},
		{http.MethodGet, "http://x/api/v1/namespaces/n/pods/p", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "get"},
		{http.MethodDelete, "http://x/api/v1/namespaces/n/pods/p", "", "delete"},
		{http.MethodPatch, "http://x/api/v1/namespaces/n/pods/p", "", "patch"},
	} {
		if got := verbOf(request(t, c.method, c.url, c.accept)); got != c.want {
			t.Errorf("%s %s is %s, want %s", c.method, c.url, got, c.want)
		}
	}
}

// A write that waits for a connection is cancelled when the lease is lost. A later write is not
// sent. Reads continue.
func TestWriteOutlivesNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{enforce: true, breaker: newCircuitBreaker(0, time.Now), fence: newLeaseFence(10 * time.Second)}
		defer g.fence.end()
		g.fence.renewed(g.fence.now())
		sent := 0
		stuck := &transport{gate: g, next: roundTrip(func(r *http.Request) (*http.Response, error) {
			sent++
			if r.Method == http.MethodGet {
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(""))}, nil
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}
		began := time.Now()
		if _, err := stuck.RoundTrip(request(t, http.MethodDelete, "http://x/", "")); !errors.Is(err, context.Canceled) { //nolint:bodyclose // there is none
			t.Errorf("the write ends with %v", err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the write is called back after %v", took)
		}
		if _, err := stuck.RoundTrip(request(t, http.MethodPatch, "http://x/", "")); !errors.Is(err, errNotLeading) || sent != 1 { //nolint:bodyclose // there is none
			t.Errorf("the next write ends with %v, %d were sent", err, sent)
		}
		response, err := stuck.RoundTrip(request(t, http.MethodGet, "http://x/", ""))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	})
}

// Everything that is not a read is a write: an observer sends none of any kind.
func TestOnlyReadsAreFree(t *testing.T) {
	var sent []string
	tr := &transport{gate: &gate{breaker: newCircuitBreaker(0, time.Now)}, next: roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Method)
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(""))}, nil
	})}
	for _, method := range []string{http.MethodDelete, http.MethodPatch, http.MethodPut, http.MethodPost} {
		if _, err := tr.RoundTrip(request(t, method, "http://x/", "")); !errors.Is(err, errObserving) { //nolint:bodyclose // there is none
			t.Errorf("%s: %v", method, err)
		}
	}
	response, err := tr.RoundTrip(request(t, http.MethodGet, "http://x/", ""))
	if err != nil || len(sent) != 1 {
		t.Fatalf("sent %v, %v", sent, err)
	}
	_ = response.Body.Close()
}

// The body of a response is read after the write, and releases its resources.
func TestAnswerOutlivesTheWrite(t *testing.T) {
	g := &gate{enforce: true, breaker: newCircuitBreaker(0, time.Now), fence: newLeaseFence(time.Minute)}
	defer g.fence.end()
	g.fence.renewed(g.fence.now())
	var of context.Context
	tr := &transport{gate: g, next: roundTrip(func(r *http.Request) (*http.Response, error) {
		of = r.Context()
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("body"))}, nil
	})}
	response, err := tr.RoundTrip(request(t, http.MethodDelete, "http://x/", ""))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(response.Body); string(text) != "body" || err != nil || of.Err() != nil {
		t.Errorf("%q, %v, %v", text, err, of.Err())
	}
	if err := response.Body.Close(); err != nil || of.Err() == nil {
		t.Errorf("closed: %v, %v", err, of.Err())
	}
}

func TestLocal(t *testing.T) {
	for at, want := range map[string]bool{
		"127.0.0.1:4": true, "[::1]:4": true, "[::ffff:127.0.0.1]:4": true, "10.0.0.1:4": false, "[fe80::1]:4": false, "": false, "pipe": false,
	} {
		if got := local(at); got != want {
			t.Errorf("local(%q) = %v", at, got)
		}
	}
}
