package kube

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestEvents: warnings come first, and then the newest, in both forms of events. Events of other
// objects are left out.
func TestEvents(t *testing.T) {
	s, c := serve(t)
	s.on("/api/v1/namespaces/shop/events", answer200(jsonType, []byte(`{"kind":"EventList","apiVersion":"v1","items":[
		{"involvedObject":{"uid":"u"},"type":"Normal","reason":"Old","message":"m","lastTimestamp":"2026-01-01T00:00:00Z","count":3,"source":{"component":"kubelet"}},
		{"involvedObject":{"uid":"other"},"type":"Warning","reason":"Other"},
		{"involvedObject":{"uid":"u"},"type":"Normal","reason":"Dropped","lastTimestamp":"2025-01-01T00:00:00Z"},
		{"involvedObject":{"uid":"u"},"type":"Normal","reason":"New","lastTimestamp":null,"eventTime":"2026-01-02T00:00:00.000001Z",
			"series":{"count":7,"lastObservedTime":"2026-01-03T02:00:00.500000+02:00"},"reportingComponent":"x.io/operator"},
		{"involvedObject":{"uid":"u"},"type":"Warning","reason":"Failed","message":"no\nway"}]}`)))
	got, err := c.Events(context.Background(), object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "u"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{
		{Type: "Warning", Reason: "Failed", Message: "no\nway", Count: 1},
		{Type: "Normal", Reason: "New", Count: 7, Last: "2026-01-03T00:00:00Z", From: "x.io/operator"},
		{Type: "Normal", Reason: "Old", Message: "m", Count: 3, Last: "2026-01-01T00:00:00Z", From: "kubelet"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if asked := s.requests("/events"); len(asked) != 1 || !strings.HasSuffix(asked[0], "?fieldSelector=involvedObject.uid%3Du") {
		t.Errorf("asked %q", asked)
	}
}

// TestEventsOfNodes: they are in namespace default, with the name of the node as uid.
func TestEventsOfNodes(t *testing.T) {
	s, c := serve(t)
	s.on("/api/v1/namespaces/default/events", answer200(jsonType, []byte(`{"kind":"EventList","apiVersion":"v1","items":[
		{"involvedObject":{"kind":"Node","uid":"n1"},"type":"Normal","reason":"NodeNotReady"},
		{"involvedObject":{"kind":"Node","uid":"u"},"type":"Normal","reason":"Starting"},
		{"involvedObject":{"kind":"Lease","uid":"n1"},"type":"Normal","reason":"Other"}]}`)))
	got, err := c.Events(context.Background(), object.Ref{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "u"}, 9)
	if err != nil || len(got) != 2 || got[0].Reason != "NodeNotReady" || got[1].Reason != "Starting" {
		t.Errorf("%+v, %v", got, err)
	}
	if asked := s.requests("involvedObject.kind%3DNode%2CinvolvedObject.name%3Dn1"); len(asked) != 1 {
		t.Errorf("asked %q", s.requests("/events"))
	}
}

// TestEventsThatCannotBeRead: a failed list is never an empty one.
func TestEventsThatCannotBeRead(t *testing.T) {
	s, c := serve(t)
	pod := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "u"}
	for name, answer := range map[string]http.HandlerFunc{
		"forbidden":  refuse(403, metav1.StatusReasonForbidden),
		"not served": http.NotFound,
		"a page":     answer200("text/html", []byte("<html>")),
		"not a list": answer200(jsonType, []byte(`{"kind":"Status"}`)),
		"half of it": answer200(jsonType, []byte(`{"kind":"EventList","items":[`)),
	} {
		t.Run(name, func(t *testing.T) {
			s.on("/api/v1/namespaces/shop/events", answer)
			events, err := c.Events(context.Background(), pod, 9)
			if err == nil || events != nil {
				t.Errorf("%+v, %v", events, err)
			}
			if forbidden := apierrors.IsForbidden(err); forbidden != (name == "forbidden") {
				t.Errorf("forbidden %v: %v", forbidden, err)
			}
		})
	}
}
