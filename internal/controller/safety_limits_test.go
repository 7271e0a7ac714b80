package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	api "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
)

// found makes a limit see objects from one number up to another.
func found(t *testing.T, s *garbageRateLimit, from, to int) (settled bool, why string) {
	t.Helper()
	for i := from; i <= to; i++ {
		var err error
		if settled, why, err = s.record(t.Context(), types.UID(fmt.Sprint(i))); err != nil {
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
	if settled, _, err := s.record(t.Context(), "one more"); settled || !errors.Is(err, busy) {
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

// replica is a leader with a safety limit, without a collector.
func replica(l *leases) (*service, *record.FakeRecorder) {
	told := record.NewFakeRecorder(10)
	lease := ours
	return &service{
		o:      Options{Lease: &lease, Enforce: true, Log: slog.New(slog.NewTextHandler(io.Discard, nil))},
		leases: l, gate: &gate{enforce: true, breaker: newCircuitBreaker(1, time.Now)}, events: &events{recorder: told},
	}, told
}

func held() *leases {
	l := &leases{}
	l.store(&api.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ours.Namespace, Name: ours.Name}})
	return l
}

// A tripped safety limit is tripped in the next process too, until a person removes the annotation
// from the lease.
func TestLimitStaysTripped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := held()
		first, told := replica(l)
		if err := first.restoreTripped(t.Context()); err != nil || first.gate.breaker.isTripped() {
			t.Fatalf("tripped from the start, %v", err)
		}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); first.watchLimit(ctx) }()
		synctest.Wait()
		l.fail(errDown)
		first.gate.breaker.trip(garbageShare, "too much garbage")
		wait(t, time.Minute)
		l.fail(nil)
		<-done
		end()
		why := l.now().Annotations[trippedAnnotation]
		if !strings.HasSuffix(why, " GarbageShare: too much garbage") {
			t.Errorf("the lease says %q", why)
		}
		if text := <-told.Events; !strings.HasPrefix(text, "Warning SafetyLimitTripped ") || !strings.Contains(text, "kubectl annotate lease kubectl-gc -n gc kubectl-gc.io/safety-limit-tripped-") {
			t.Errorf("the event says %q", text)
		}

		second, told := replica(l)
		if err := second.restoreTripped(t.Context()); err != nil {
			t.Fatal(err)
		}
		second.watchLimit(t.Context()) // writes nothing
		if c, text := second.gate.breaker.state(); c != remembered || text != why {
			t.Errorf("the next process knows %q of %q", text, c)
		}
		if err := second.gate.before(t.Context(), deleting("Pod")); !errors.Is(err, errTripped) || len(told.Events) != 1 {
			t.Errorf("it refuses with %v, and tells %d times", err, len(told.Events))
		}

		l.touch(func(lease *api.Lease) { delete(lease.Annotations, trippedAnnotation) })
		third, _ := replica(l)
		if err := third.restoreTripped(t.Context()); err != nil || third.gate.breaker.isTripped() {
			t.Errorf("tripped after it was reset, %v", err)
		}
	})
}

// A process that ends while the server does not answer tries once more, and no longer. A process
// that cannot read the lease does not begin.
func TestTripCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := held()
		s, _ := replica(l)
		l.fail(errDown)
		if err := s.restoreTripped(t.Context()); !errors.Is(err, errDown) {
			t.Errorf("it begins with %v", err)
		}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.watchLimit(ctx) }()
		s.gate.breaker.take()
		s.gate.breaker.take()
		wait(t, 5*time.Second)
		end()
		began := time.Now()
		<-done
		if took := time.Since(began); took > 0 {
			t.Errorf("it ends %v after it was told to", took)
		}
	})
}

// The lease is renewed while the trip is written to it.
func TestTripBesideRenewals(t *testing.T) {
	l := held()
	writes := &raced{leases: l, times: 3}
	if _, err := (tripRecord{leases: writes, lease: ours}).put(t.Context(), "why"); err != nil {
		t.Fatal(err)
	}
	if have := l.now(); have.Annotations[trippedAnnotation] != "why" || have.Labels["renewed"] != "yes" {
		t.Errorf("%+v", have)
	}
	if _, err := (tripRecord{leases: l, lease: ours}).put(t.Context(), "another reason"); err != nil || l.now().Annotations[trippedAnnotation] != "why" {
		t.Errorf("the first reason is gone, %v", err)
	}
	writes.times = 100
	l.touch(func(lease *api.Lease) { delete(lease.Annotations, trippedAnnotation) })
	if _, err := (tripRecord{leases: writes, lease: ours}).put(t.Context(), "why"); err == nil {
		t.Error("it is never given up")
	}
}

// An observer never trips a limit, and a single process does not remember it.
func TestNoTripRecord(t *testing.T) {
	s, _ := replica(&leases{fails: errDown})
	s.o.Enforce = false
	if err := s.restoreTripped(t.Context()); err != nil {
		t.Error(err)
	}
	s.o.Enforce, s.o.Lease = true, nil
	if err := s.restoreTripped(t.Context()); err != nil {
		t.Error(err)
	}
	s.gate.breaker.trip(deletesPerMinute, "many")
	s.watchLimit(t.Context())
}
