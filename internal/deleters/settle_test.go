package deleters

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// When all is settled, a delete with any policy has had all its consequences, and an object with a
// finalizer remains.
func TestSettle(t *testing.T) {
	for policy, want := range map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationBackground: "held",
		metav1.DeletePropagationForeground: "held owner",
		metav1.DeletePropagationOrphan:     "deep free held",
	} {
		t.Run(string(policy), func(t *testing.T) {
			held := configMap("held", "owner", "example.com/held")
			held.Owners[0].BlockOwnerDeletion = object.True
			s := start(t, configMap("owner", ""), configMap("free", "owner"), configMap("deep", "free"), held)
			s.settled()
			s.remove("owner", policy)
			for range 2 {
				s.settled()
				if got := s.there(); got != want {
					t.Errorf("there are %q, want %q", got, want)
				}
			}
		})
	}
}

// A refused request is left to do, is named with its reason, and succeeds when it is no longer
// refused.
func TestRefused(t *testing.T) {
	s := start(t, configMap("owner", ""), configMap("dependent", "owner"), configMap("held", "", "example.com/held"))
	s.refuse("/dependent")
	s.remove("owner", metav1.DeletePropagationBackground)
	s.remove("held", metav1.DeletePropagationBackground)
	want := []string{"shop/dependent", "nobody may", "shop/held is being deleted", "example.com/held"}
	has(t, s.unsettled(want...), want...)
	s.refuse("")
	s.settled()
	if got := s.there(); got != "held" {
		t.Errorf("there are %q", got)
	}
}

// An attempt that waits for an unserved kind counts as settled, because it waits forever.
func TestOwnerOfNoKind(t *testing.T) {
	odd := configMap("odd", "owner")
	odd.Owners[0].Kind = "Nothing"
	s := start(t, odd)
	s.settled()
	if got := s.there(); got != "odd" {
		t.Errorf("there are %q", got)
	}
}

// Settle fails at once after Stop.
func TestSettleAfterTheEnd(t *testing.T) {
	s := start(t)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	err := s.Settle(t.Context())
	if _, late := errors.AsType[*unsettledError](err); err == nil || late {
		t.Errorf("after the end: %v", err)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stopped again: %v", err)
	}
}

// The error names a context that has ended.
func TestSettleCancelled(t *testing.T) {
	s := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Settle(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("it is %v", err)
	}
	if got := err.Error(); got != "not settled: the context was cancelled" {
		t.Errorf("it says %q", got)
	}
}

// A deadline that has passed before any check names no culprit.
func TestSettleTooLate(t *testing.T) {
	s := start(t, configMap("one", ""))
	s.settled()
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	err := s.Settle(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "not settled: the deadline was over before" {
		t.Fatalf("it is %v", err)
	}
}
