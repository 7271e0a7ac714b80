package deleters

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The last error of the server is why a kind cannot be read, also if a later read ends without an
// answer.
func TestAnswers(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	cut := fmt.Errorf("Get: %w", context.Canceled)
	said := apierrors.NewTooManyRequests("the conversion webhook is away", 1)
	widgets := schema.GroupResource{Resource: "widgets"}
	var a answers
	for i, c := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{over, cut, "widgets cannot be read: no answer in time"},
		{t.Context(), errors.New("connection refused"), "widgets cannot be read: connection refused"},
		{over, cut, "widgets cannot be read: connection refused"},
		{over, errors.Join(context.Canceled, said), "widgets cannot be read: the conversion webhook is away"},
		{over, cut, "widgets cannot be read: the conversion webhook is away"},
		{t.Context(), nil, ""},
		{over, cut, "widgets cannot be read: no answer in time"},
	} {
		if got := a.judge(c.ctx, widgets, c.err); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
	a.judge(t.Context(), widgets, said)
	a.judge(t.Context(), schema.GroupResource{Resource: "gadgets"}, said)
	a.forget(widgets)
	if got := a.unread(); len(got) != 1 || got[0] != "gadgets cannot be read: the conversion webhook is away" {
		t.Errorf("cannot be read: %q", got)
	}
}

// A listed kind is not settled before its watch has begun, because the watch may be forbidden.
func TestNotWatchedYet(t *testing.T) {
	s := start(t, configMap("one", ""))
	s.settled()
	s.watches.Broken(configMaps)
	has(t, s.unsettled("left to do: configmaps is not watched yet"), "left to do: configmaps is not watched yet")
	s.watches.Watching(configMaps)
	s.settled()
}
