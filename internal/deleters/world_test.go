package deleters

import (
	"errors"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// An accepted request is not repeated for the same version of an object. A refused one and a
// different one are sent.
func TestOnce(t *testing.T) {
	w := &world{accepted: map[acceptedRequest]struct{}{}}
	sent := 0
	send := func(o *object.Object, what string, answer error) {
		t.Helper()
		err := w.sendOnce(o, what, func() error { sent++; return answer })
		if !errors.Is(err, answer) {
			t.Errorf("%s: %v", what, err)
		}
	}
	first, later := configMap("a", ""), configMap("a", "")
	first.ResourceVersion, later.ResourceVersion = "1", "2"
	refused := errors.New("no")
	for i, c := range []struct {
		object *object.Object
		what   string
		answer error
		want   int
	}{
		{first, "DELETE", refused, 1},
		{first, "DELETE", nil, 2},
		{first, "DELETE", nil, 2},
		{first, "PATCH", nil, 3},
		{later, "DELETE", nil, 4},
		{first, "DELETE", nil, 4},
	} {
		if send(c.object, c.what, c.answer); sent != c.want {
			t.Errorf("%d: %d requests, want %d", i, sent, c.want)
		}
	}
	if w.Writes() != 3 {
		t.Errorf("%d writes were accepted", w.Writes())
	}
}
