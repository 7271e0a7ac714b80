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

// Event is an event about an object. All its texts are untrusted.
type Event struct {
	// Type is Normal or Warning.
	Type, Reason, Message string
	// Count is the number of occurrences, at least 1.
	Count int
	// Last is the time of the last occurrence in RFC 3339. It is empty if unknown.
	Last string
	// From is the reporting component.
	From string
}

// Events returns the first most events about an object: Warnings before others, and within one type
// the newest first. An API server usually keeps events for an hour.
//
// The events of an object without a namespace are in the namespace default. Those of a node have
// its name instead of its uid.
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
		// A server without support for the selector sends everything.
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

// eventList has the used fields of a list of events.
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

// event reads both forms of events. Current components write series.
func (e *storedEvent) event() Event {
	return Event{
		Type: e.Type, Reason: e.Reason, Message: e.Message, Count: max(e.Count, e.Series.Count, 1),
		Last: latest(e.First, e.Last, e.EventTime, e.Series.Last), From: cmp.Or(e.Reporting, e.Source.Component),
	}
}

// latest returns the latest of some times and skips invalid ones.
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
