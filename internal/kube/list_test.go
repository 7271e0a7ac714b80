package kube

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const configMapsPath = "/api/v1/configmaps"

// listed lists a place and returns the names of the last try.
func listed(c *Client, r object.Resource) (names []string, got Listed, err error) {
	got, err = c.List(context.Background(), Place{Resource: r}, Selection{}, Listing{
		Object:  func(o *object.Object) error { names = append(names, o.Name); return nil },
		Restart: func() { names = nil },
	})
	return names, got, err
}

// cutOff sends the beginning of a body and breaks the connection.
func cutOff(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// compressed answers with a gzip body without its last bytes.
func compressed(body []byte, without int) http.HandlerFunc {
	var text bytes.Buffer
	w := gzip.NewWriter(&text)
	_, _ = w.Write(body)
	_ = w.Close()
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			http.Error(w, "nobody can read that", http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		answer200(protobufType, text.Bytes()[:text.Len()-without])(w, r)
	}
}

// TestListCompressed: a list is requested with compression.
func TestListCompressed(t *testing.T) {
	s, c := serve(t)
	s.on(configMapsPath, compressed(listBody("7", "", "a", "b"), 0))
	names, got, err := listed(c, configMaps)
	if err != nil || !slices.Equal(names, []string{"a", "b"}) || got.ResourceVersion != "7" {
		t.Errorf("listed %v, %+v, %v", names, got, err)
	}
}

// TestListFaults: anything but a complete list of the requested kind is an error, and never an
// empty list.
func TestListFaults(t *testing.T) {
	whole := listBody("7", "", "a", "b")
	var many []string
	for i := range 5000 {
		many = append(many, fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)})))
	}
	long := listBody("7", "", many...)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a page of a proxy":                 {answer200("text/html", []byte("<html>ok</html>")), `not the requested list: its type is "text/html"`},
		"a page that claims to be one":      {answer200(jsonType, []byte("<html>ok</html>")), "not the requested list"},
		"nothing":                           {answer200(protobufType, nil), "not the requested list"},
		"nothing as JSON":                   {answer200(jsonType, nil), "it holds 0 lists"},
		"null":                              {answer200(jsonType, []byte("null")), "not the requested list"},
		"an empty object":                   {answer200(jsonType, []byte("{}")), "not the requested list"},
		"no content":                        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, "not the requested list"},
		"another kind":                      {answer200(protobufType, wrapped("v1", "SecretList", &metav1.PartialObjectMetadataList{})), `it is a "SecretList"`},
		"another kind as JSON":              {answer200(jsonType, []byte(`{"apiVersion":"v1","kind":"SecretList","items":[]}`)), `it is a "SecretList"`},
		"items of another kind":             {answer200(jsonType, []byte(`{"apiVersion":"v1","kind":"ConfigMapList","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}]}`)), `it holds a "Secret"`},
		"one object":                        {answer200(jsonType, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)), "it holds a"},
		"a status of success":               {answer200(jsonType, []byte(`{"apiVersion":"v1","kind":"Status","status":"Success"}`)), "not the requested list"},
		"a body that ends early":            {answer200(protobufType, whole[:len(whole)-9]), "the answer broke off"},
		"a compressed body that ends early": {compressed(long, 9), "the answer broke off"},
		"a compressed body without its sum": {compressed(long, 4), "the answer broke off"},
		"no gzip": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			answer200(protobufType, whole)(w, r)
		}, "invalid header"},
		"a connection that breaks":  {cutOff(protobufType, whole[:len(whole)-9]), "the answer broke off"},
		"a break behind the items":  {cutOff(protobufType, whole), "the answer broke off"},
		"JSON that ends early":      {answer200(jsonType, []byte(`{"apiVersion":"v1","kind":"ConfigMapList","items":[`)), "the answer broke off"},
		"the same page forever":     {listOf("7", "more", "a"), "the next page is the same"},
		"forbidden":                 {refuse(403, metav1.StatusReasonForbidden), "Forbidden it is"},
		"a path that is not served": {http.NotFound, "does not serve this path"},
		"a conversion that fails":   {refuse(500, metav1.StatusReasonInternalError), "InternalError"},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := serve(t)
			s.on(configMapsPath, c.answer)
			names, got, err := listed(client, configMaps)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("listed %v, %+v: error %v, want %q", names, got, err, c.want)
			}
			if apierrors.IsNotFound(err) {
				t.Errorf("%v counts as absence", err)
			}
		})
	}
}

func TestListInOnePiece(t *testing.T) {
	s, c := serve(t)
	s.on(configMapsPath, listOf("7", "", "a", "b"))
	names, got, err := listed(c, configMaps)
	if err != nil || !slices.Equal(names, []string{"a", "b"}) || got.ResourceVersion != "7" || got.Objects != 2 || got.Taken.IsZero() {
		t.Errorf("listed %v, %+v, %v", names, got, err)
	}
	if asked := s.requests("configmaps"); !slices.Equal(asked, []string{"GET " + configMapsPath}) {
		t.Errorf("asked %q", asked)
	}
}

// TestListPages: pages are used on request, and if a server cannot answer in one piece.
func TestListPages(t *testing.T) {
	s, c := serve(t)
	c.chunk = 2
	s.on(configMapsPath, listOf("7", "t1", "a", "b"), listOf("7", "", "c"))
	names, got, err := listed(c, configMaps)
	if err != nil || !slices.Equal(names, []string{"a", "b", "c"}) || got.Objects != 3 {
		t.Errorf("listed %v, %+v, %v", names, got, err)
	}
	want := []string{"GET " + configMapsPath + "?limit=2", "GET " + configMapsPath + "?continue=t1&limit=2"}
	if asked := s.requests("configmaps"); !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}

	whole := listBody("7", "", "a", "b")
	for name, bad := range map[string]http.HandlerFunc{
		"a timeout": refuse(504, metav1.StatusReasonTimeout),
		"a break":   cutOff(protobufType, whole[:len(whole)-9]),
	} {
		t.Run(name, func(t *testing.T) {
			s, c := serve(t)
			s.on(configMapsPath, bad, listOf("8", "", "a"))
			names, _, err := listed(c, configMaps)
			if err != nil || !slices.Equal(names, []string{"a"}) {
				t.Errorf("listed %v, %v", names, err)
			}
			if asked := s.requests("limit=500"); len(asked) != 1 {
				t.Errorf("asked %q", s.requests("configmaps"))
			}
		})
	}
}

// TestListExpires: a list that expires in between starts from the beginning, and the continue token
// of the 410 is not used. (L16)
func TestListExpires(t *testing.T) {
	s, c := serve(t)
	c.chunk = 1
	gone := refuse(410, metav1.StatusReasonExpired, func(s *metav1.Status) {
		s.Message = "continue"
		s.Details = &metav1.StatusDetails{}
	})
	s.on(configMapsPath, listOf("7", "t1", "a"), gone, listOf("9", "t2", "b"), listOf("9", "", "c"))
	names, got, err := listed(c, configMaps)
	if err != nil || !slices.Equal(names, []string{"b", "c"}) || got.ResourceVersion != "9" || got.Objects != 2 {
		t.Errorf("listed %v, %+v, %v", names, got, err)
	}

	s.on(configMapsPath, slices.Repeat([]http.HandlerFunc{listOf("7", "t1", "a"), gone}, listTries)...)
	if names, _, err := listed(c, configMaps); !apierrors.IsResourceExpired(err) {
		t.Errorf("a list that always expires: %v, %v", names, err)
	}
}

// TestListIsTold: 429 and Retry-After are obeyed. (L38)
func TestListIsTold(t *testing.T) {
	s, c := serve(t)
	s.on(configMapsPath, refuse(429, metav1.StatusReasonTooManyRequests, after(7)), refuse(503, metav1.StatusReasonServiceUnavailable, after(2)), listOf("7", "", "a"))
	if names, _, err := listed(c, configMaps); err != nil || len(names) != 1 {
		t.Errorf("listed %v, %v", names, err)
	}
	if want := []time.Duration{7 * time.Second, 2 * time.Second}; !slices.Equal(s.waited, want) {
		t.Errorf("waited %v", s.waited)
	}
	s.on(configMapsPath, refuse(429, metav1.StatusReasonTooManyRequests))
	if _, _, err := listed(c, configMaps); !apierrors.IsTooManyRequests(err) {
		t.Errorf("a server that never has time: %v", err)
	}
}

// A kind that is not ready is waited for, but not forever, and only briefly if its objects cannot
// be converted.
func TestListNotReady(t *testing.T) {
	const unready = "storage is (re)initializing"
	const failed = unready + ": failed to list example.com/v2, Kind=Widget: conversion webhook for example.com/v1, Kind=Widget failed: no endpoints available"
	for _, x := range []struct {
		message string
		wait    int32
		waits   int
	}{
		{unready, 1, 9}, {unready, 7, 2}, {unready, 30, 0},
		{failed, 1, 2}, {failed, 2, 1}, {failed, 3, 0},
	} {
		s, c := serve(t)
		s.on(configMapsPath, refuse(429, metav1.StatusReasonTooManyRequests, after(x.wait), func(s *metav1.Status) { s.Message = x.message }))
		if _, _, err := listed(c, configMaps); !apierrors.IsTooManyRequests(err) {
			t.Errorf("%d s, %s: %v", x.wait, x.message, err)
		}
		if len(s.waited) != x.waits {
			t.Errorf("%d s, %s: waited %v", x.wait, x.message, s.waited)
		}
	}
}

// TestSlowList: a list that stops arriving is cancelled. Otherwise only the caller's context ends
// it.
func TestSlowList(t *testing.T) {
	s, c := serve(t)
	c.idle = 20 * time.Millisecond
	s.on(configMapsPath, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", protobufType)
		_, _ = w.Write(listBody("7", "", "a")[:20])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	if names, _, err := listed(c, configMaps); !errors.Is(err, errIdle) {
		t.Errorf("listed %v, %v", names, err)
	}
	c.idle = time.Minute
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.List(ctx, Place{Resource: configMaps}, Selection{}, Listing{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestListWhole: a kind with facts is requested whole, and its facts are read.
func TestListWhole(t *testing.T) {
	s, c := serve(t)
	var accept string
	s.on("/api/v1/pods", func(w http.ResponseWriter, r *http.Request) {
		accept = r.Header.Get("Accept")
		answer200(jsonType, []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[
			{"metadata":{"name":"p","namespace":"shop","uid":"u"},"spec":{"nodeName":"n1","containers":[]},"status":{"phase":"Running"}}]}`))(w, r)
	})
	var got []*object.Object
	l, err := c.List(context.Background(), Place{Resource: pods}, Selection{}, Listing{Object: func(o *object.Object) error { got = append(got, o); return nil }})
	if err != nil || len(got) != 1 || got[0].Pod() == nil || got[0].Pod().NodeName != "n1" || l.ResourceVersion != "5" {
		t.Errorf("%v, %+v, %v", got, l, err)
	}
	if accept != protobufType+","+jsonType {
		t.Errorf("accepts %q", accept)
	}
	s.on("/api/v1/namespaces", func(w http.ResponseWriter, r *http.Request) {
		accept = r.Header.Get("Accept")
		namespaceList(w, r)
	})
	if _, _, err := listed(c, namespaces); err != nil || accept != jsonType {
		t.Errorf("namespaces: accepts %q, %v", accept, err)
	}
	s.on("/api/v1/namespaces", listOf("7", ""))
	if _, _, err := listed(c, namespaces); err == nil {
		t.Error("metadata passed for whole namespaces")
	}
	s.on("/api/v1/pods", listOf("7", ""))
	if _, _, err := listed(c, pods); err == nil {
		t.Error("metadata passed for whole pods")
	}
}

// TestListStaysInItsPlace: an object of another namespace does not belong to a list of one. An
// error of the receiver is returned unchanged.
func TestListStaysInItsPlace(t *testing.T) {
	s, c := serve(t)
	s.on("/api/v1/namespaces/web/configmaps", listOf("7", "", "a"))
	if _, err := c.List(context.Background(), Place{configMaps, "web"}, Selection{}, Listing{}); err == nil {
		t.Error("an object of shop passed for one of web")
	}
	s.on(configMapsPath, listOf("7", "", "a"))
	full := errors.New("full")
	_, err := c.List(context.Background(), Place{Resource: configMaps}, Selection{}, Listing{Object: func(*object.Object) error { return full }})
	if err != full { //nolint:errorlint // as it is
		t.Errorf("%v", err)
	}
}
