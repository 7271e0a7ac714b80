package controller

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	api "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
)

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
		if err := first.recall(t.Context()); err != nil || first.gate.breaker.isTripped() {
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
		if err := second.recall(t.Context()); err != nil {
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
		if err := third.recall(t.Context()); err != nil || third.gate.breaker.isTripped() {
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
		if err := s.recall(t.Context()); !errors.Is(err, errDown) {
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
	if err := s.recall(t.Context()); err != nil {
		t.Error(err)
	}
	s.o.Enforce, s.o.Lease = true, nil
	if err := s.recall(t.Context()); err != nil {
		t.Error(err)
	}
	s.gate.breaker.trip(deletesPerMinute, "many")
	s.watchLimit(t.Context())
}
