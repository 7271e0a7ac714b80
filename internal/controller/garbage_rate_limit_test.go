package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
)

// found makes a limit see objects from one number up to another.
func found(t *testing.T, s *garbageRateLimit, from, to int) (settled bool, why string) {
	t.Helper()
	for i := from; i <= to; i++ {
		var err error
		if settled, why, err = s.see(t.Context(), types.UID(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	return settled, why
}

// of returns a function that counts n objects.
func of(n *int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return *n, nil }
}

// The first object of too much garbage is not deleted before the rest is seen.
func TestGarbageGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := 2000
		s := newGarbageRateLimit(10, time.Now, of(&known))
		if settled, why := found(t, s, 1, 1); settled || why != "" {
			t.Errorf("found just now, and settled %v, %q", settled, why)
		}
		wait(t, gathering)
		if settled, why := found(t, s, 1, 1); !settled || why != "" {
			t.Errorf("found long ago, and settled %v, %q", settled, why)
		}
		if _, why := found(t, s, 2, 200); why != "" {
			t.Errorf("200 of 2000 are %q", why)
		}
		_, why := found(t, s, 201, 201)
		if want := "201 of 2000 objects became garbage within a minute, at most 10% may"; why != want {
			t.Errorf("got %q, want %q", why, want)
		}
	})
}

// In a small cluster a few garbage objects are acceptable, whatever their share.
func TestGarbageInSmallClusters(t *testing.T) {
	known := 120
	s := newGarbageRateLimit(10, time.Now, of(&known))
	if _, why := found(t, s, 1, fewGarbage); why != "" {
		t.Error(why)
	}
	if _, why := found(t, s, 1, fewGarbage+1); why == "" {
		t.Errorf("%d of %d are not too many", fewGarbage+1, known)
	}
}

// Garbage of more than a minute ago does not count, and neither does the old size of a cluster that
// has shrunk since.
func TestGarbageForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := 10_000
		s := newGarbageRateLimit(10, time.Now, of(&known))
		for range 5 {
			if _, why := found(t, s, 1, 1000); why != "" {
				t.Fatal(why)
			}
			if len(s.found) > 1001 {
				t.Fatalf("%d are remembered", len(s.found))
			}
			wait(t, time.Minute)
		}
		if settled, _ := found(t, s, 1, 1); settled {
			t.Error("what was found a minute ago is let go at once")
		}
		known = 2000
		if _, why := found(t, s, 2, 201); why == "" {
			t.Error("the share is one of a cluster that is no more")
		}
	})
}

// If the number of objects is unknown, none is deleted.
func TestGarbageWithoutMeasure(t *testing.T) {
	busy := errors.New("busy")
	s := newGarbageRateLimit(10, time.Now, func(context.Context) (int, error) { return 0, busy })
	found(t, s, 1, fewGarbage)
	if settled, _, err := s.see(t.Context(), "one more"); settled || !errors.Is(err, busy) {
		t.Errorf("settled %v, %v", settled, err)
	}
}

// The gate delays garbage until it is settled. If there is too much, nothing is written, not even
// patches.
func TestGateWithTooMuchGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := 1000
		g := &gate{enforce: true, breaker: newCircuitBreaker(0, time.Now), garbage: newGarbageRateLimit(10, time.Now, of(&known))}
		ask := func(i int) error {
			r := deleting("Pod")
			r.Ref.UID = types.UID(fmt.Sprint(i))
			return g.before(t.Context(), r)
		}
		held := ask(1)
		if !errors.Is(held, errGathering) || holdBack(&engine.RefusedError{Err: held}) != gathering {
			t.Errorf("the first is refused as %v for %v", held, holdBack(&engine.RefusedError{Err: held}))
		}
		wait(t, gathering)
		if err := ask(1); err != nil {
			t.Errorf("settled, and refused: %v", err)
		}
		for i := 2; i <= fewGarbage; i++ {
			if err := ask(i); !errors.Is(err, errGathering) {
				t.Fatalf("%d: %v", i, err)
			}
		}
		if err := ask(fewGarbage + 1); !errors.Is(err, errTripped) {
			t.Errorf("one too many: %v", err)
		}
		wait(t, time.Hour)
		for _, r := range []engine.Request{deleting("Pod"), {Verb: engine.RemoveOwners, Ref: deleting("Pod").Ref}} {
			if err := g.before(t.Context(), r); !errors.Is(err, errTripped) || !errors.Is(g.mayWrite(), errTripped) {
				t.Errorf("an hour later: %v, the wire says %v", err, g.mayWrite())
			}
		}
		if cause, _ := g.breaker.state(); cause != garbageShare {
			t.Errorf("tripped by %q", cause)
		}
	})
}
