package kube

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func eventOf(kind object.EventType, uid, version string) object.Event {
	return object.Event{Type: kind, Object: &object.Object{Ref: object.Ref{UID: types.UID(uid)}, ResourceVersion: version}}
}

// Only objects that a watch has shown as deleted are known to be gone.
func TestGone(t *testing.T) {
	g := &seenDeleted{}
	ctx, cancel := context.WithCancel(t.Context())
	in := make(chan object.Event)
	out := g.through(ctx, in)
	for _, c := range []struct {
		event object.Event
		want  bool
	}{
		{eventOf(object.Added, "added", "1"), false},
		{eventOf(object.Modified, "modified", "2"), false},
		{eventOf(object.Deleted, "deleted", "3"), true},
		{eventOf(object.Deleted, "missing in a list", ""), false},
	} {
		in <- c.event
		if got := <-out; got.Object != c.event.Object {
			t.Errorf("%s is handed on as %v", c.event.Object.UID, got)
		}
		if got := g.has(c.event.Object.UID); got != c.want {
			t.Errorf("%s counts as gone: %v", c.event.Object.UID, got)
		}
	}
	cancel()
	in <- eventOf(object.Deleted, "late", "4") // it may be forwarded or not
	close(in)
	for range out {
	}
	for i := range maxSeenDeleted + 1 {
		g.add(eventOf(object.Deleted, fmt.Sprint(i), "5"))
	}
	if len(g.uids) > maxSeenDeleted {
		t.Errorf("%d are remembered", len(g.uids))
	}
}
