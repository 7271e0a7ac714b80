package evidence_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// An unreadable object is recorded with the reason and without writers.
func TestUnread(t *testing.T) {
	w := &evidence.World{}
	w.Unread(object.Ref{Kind: "Widget", Name: "a"}, "forbidden")
	if len(w.Terminating) != 1 || w.Terminating[0].Unread != "forbidden" || w.Terminating[0].Writers != nil {
		t.Errorf("%+v", w.Terminating)
	}
}
