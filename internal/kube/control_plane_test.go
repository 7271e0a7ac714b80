package kube

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"

func TestLease(t *testing.T) {
	s, c := serve(t)
	read := time.Date(2026, 11, 22, 9, 0, 30, 0, time.UTC)
	s.on(leasePath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("Date", read.Format(http.TimeFormat))
		_, _ = io.WriteString(w, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"kube-controller-manager"},`+
			`"spec":{"holderIdentity":"master-1","leaseDurationSeconds":15,"renewTime":"2026-11-22T09:00:10.000000Z"}}`)
	})
	got, err := c.Lease(context.Background(), "kube-system", "kube-controller-manager")
	if err != nil {
		t.Fatal(err)
	}
	want := Lease{Holder: "master-1", Renewed: read.Add(-20 * time.Second), Duration: 15 * time.Second, Read: read}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Only a Status about the lease says that it does not exist.
func TestLeaseAbsence(t *testing.T) {
	leases := object.Resource{Group: "coordination.k8s.io", Version: "v1", Name: "leases"}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		absent bool
	}{
		"absent":         {missing(leases, "kube-controller-manager"), true},
		"a page":         {http.NotFound, false},
		"forbidden":      {refuse(403, metav1.StatusReasonForbidden), false},
		"another":        {answer200(jsonType, []byte(`{"kind":"Lease","metadata":{"name":"other"}}`)), false},
		"no JSON":        {answer200(jsonType, []byte(`{"kind":"Le`)), false},
		"no JSON at all": {answer200("text/html", []byte(`<html>`)), false},
	} {
		s, client := serve(t)
		s.on(leasePath, c.answer)
		_, err := client.Lease(context.Background(), "kube-system", "kube-controller-manager")
		if err == nil || apierrors.IsNotFound(err) != c.absent {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCommandLines(t *testing.T) {
	s, c := serve(t)
	s.on("/api/v1/namespaces/kube-system/pods", answer200(jsonType, []byte(`{"kind":"PodList","apiVersion":"v1","items":[
		{"metadata":{"name":"kcm-1","namespace":"kube-system","uid":"u"},"spec":{"containers":[
			{"name":"a","command":["kcm","--x"],"args":["--y=1"]},{"name":"b"}]}}]}`)))
	got, err := c.CommandLines(context.Background(), "kube-system", "component=kcm")
	if err != nil {
		t.Fatal(err)
	}
	pod := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "kube-system", Name: "kcm-1", UID: "u"}
	if diff := cmp.Diff([]CommandLine{{Pod: pod, Args: []string{"kcm", "--x", "--y=1"}}, {Pod: pod}}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if asked := s.requests("pods"); len(asked) != 1 || asked[0] != "GET /api/v1/namespaces/kube-system/pods?labelSelector=component%3Dkcm&limit=50" {
		t.Errorf("asked %q", asked)
	}
	s.on("/api/v1/namespaces/kube-system/pods", answer200(jsonType, []byte(`{"kind":"Pod","apiVersion":"v1"}`)))
	if got, err := c.CommandLines(context.Background(), "kube-system", "x"); err == nil {
		t.Errorf("%v", got)
	}
}

// Text is requested from this server only, with the path exactly as in the URL: a colon and an
// escaped slash have a meaning for a proxy.
func TestText(t *testing.T) {
	s, c := serve(t)
	const path = "/api/v1/namespaces/kube-system/pods/https:kcm:10257/proxy/debug/graph"
	s.on(path, answer200("text/vnd.graphviz", []byte("strict digraph full {\n}\n")))
	at, err := url.Parse(s.URL + path + "?uid=a&uid=b")
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Text(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = text.Close() }()
	if got, err := io.ReadAll(text); err != nil || string(got) != "strict digraph full {\n}\n" {
		t.Errorf("%q, %v", got, err)
	}
	if asked := s.requests("debug"); len(asked) != 1 || asked[0] != "GET "+path+"?uid=a&uid=b" {
		t.Errorf("asked %q", asked)
	}
	for _, other := range []string{"https://127.0.0.1:1" + path, s.URL + "/a/../b", s.URL + "/a/%2e%2e/b", s.URL} {
		u, err := url.Parse(other)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Text(context.Background(), u); err == nil {
			t.Errorf("%s was asked", other)
		}
	}
	if asked := s.requests("/b"); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
}
