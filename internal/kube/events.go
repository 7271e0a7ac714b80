package kube

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Event is what somebody has noted about an object. All of it is foreign text.
type Event struct {
	// Type is Normal or Warning.
	Type, Reason, Message string
	// Count is how often it was seen, at least 1.
	Count int
	// Last is when it was seen last as an RFC 3339 text; empty if that is not known.
	Last string
	// From is the component that says so.
	From string
}

// Events reads the last events about an object, no more than most: those of type Warning
// first, and of one type the last first. An API server keeps them for an hour, usually.
//
// The events of an object without a namespace are in the namespace default. Those of a
// node have its name for a uid.
//
// Upstream: client-go/tools/record/event.go makeEvent.
// The kubelet makes the reference to its node itself.
func (c *Client) Events(ctx context.Context, of object.Ref, most int) ([]Event, error) {
	namespace := cmp.Or(of.Namespace, metav1.NamespaceDefault)
	selected := fields.OneTermEqualSelector("involvedObject.uid", string(of.UID))
	if of.Is(object.Node) {
		selected = fields.AndSelectors(
			fields.OneTermEqualSelector("involvedObject.kind", "Node"), fields.OneTermEqualSelector("involvedObject.name", of.Name))
	}
	resource := object.Resource{Version: "v1", Name: "events", Kind: "Event", Namespaced: true}
	var list eventList
	err := c.exchange(ctx, request{
		verb: http.MethodGet, path: []string{"api", "v1", "namespaces", namespace, "events"}, accept: jsonType,
		query: url.Values{"fieldSelector": {selected.String()}},
		about: subject{resource: resource, namespace: namespace},
	}, &list)
	if err != nil {
		return nil, err
	}
	if list.Kind != "EventList" {
		return nil, &UnexpectedAnswerError{About: "events", What: "its kind is " + quote(list.Kind)}
	}
	var events []Event
	for i := range list.Items {
		// A server that does not know the selector sends everything.
		if e := &list.Items[i]; e.about(of) {
			events = append(events, e.event())
		}
	}
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(rankOf(a)-rankOf(b), -strings.Compare(a.Last, b.Last), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Message, b.Message))
	})
	return events[:min(most, len(events))], nil
}

func rankOf(e Event) int {
	if e.Type == "Warning" {
		return 0
	}
	return 1
}

// eventList is as much of a list of events as matters.
type eventList struct {
	Kind  string        `json:"kind"`
	Items []storedEvent `json:"items"`
}

type storedEvent struct {
	InvolvedObject struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
		UID  string `json:"uid"`
	} `json:"involvedObject"`
	Type      string `json:"type"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
	Count     int    `json:"count"`
	First     string `json:"firstTimestamp"`
	Last      string `json:"lastTimestamp"`
	EventTime string `json:"eventTime"`
	Series    struct {
		Count int    `json:"count"`
		Last  string `json:"lastObservedTime"`
	} `json:"series"`
	Source struct {
		Component string `json:"component"`
	} `json:"source"`
	Reporting string `json:"reportingComponent"`
}

func (e *storedEvent) about(of object.Ref) bool {
	uid := e.InvolvedObject.UID
	return uid == string(of.UID) || of.Is(object.Node) && e.InvolvedObject.Kind == "Node" && uid == of.Name
}

// event reads both forms that events have: a component of today writes series.
func (e *storedEvent) event() Event {
	return Event{
		Type: e.Type, Reason: e.Reason, Message: e.Message, Count: max(e.Count, e.Series.Count, 1),
		Last: latest(e.First, e.Last, e.EventTime, e.Series.Last), From: cmp.Or(e.Reporting, e.Source.Component),
	}
}

// latest is the last of some times, as far as they are times.
func latest(texts ...string) string {
	var last time.Time
	for _, text := range texts {
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil && t.After(last) {
			last = t
		}
	}
	if last.IsZero() {
		return ""
	}
	return last.UTC().Format(time.RFC3339)
}
