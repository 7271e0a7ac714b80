package kube

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	var list corev1.EventList
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
		e := &list.Items[i]
		// A server without support for the selector sends everything.
		if to := e.InvolvedObject; to.UID == of.UID || of.Is(object.Node) && to.Kind == "Node" && string(to.UID) == of.Name {
			events = append(events, convertEvent(e))
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

// convertEvent reads both forms of events. Current components write series.
func convertEvent(e *corev1.Event) Event {
	count, last := max(e.Count, 1), e.LastTimestamp.Time
	times := []time.Time{e.FirstTimestamp.Time, e.EventTime.Time}
	if e.Series != nil {
		count, times = max(count, e.Series.Count), append(times, e.Series.LastObservedTime.Time)
	}
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	out := Event{Type: e.Type, Reason: e.Reason, Message: e.Message, Count: int(count), From: cmp.Or(e.ReportingController, e.Source.Component)}
	if !last.IsZero() {
		out.Last = last.UTC().Format(time.RFC3339)
	}
	return out
}
