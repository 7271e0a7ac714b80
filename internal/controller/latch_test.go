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

// replica is a leader with a fuse, without a collector.
func replica(l *leases) (*service, *record.FakeRecorder) {
	told := record.NewFakeRecorder(10)
	lease := ours
	return &service{
		o:      Options{Lease: &lease, Enforce: true, Log: slog.New(slog.NewTextHandler(io.Discard, nil))},
		leases: l, gate: &gate{enforce: true, fuse: newFuse(1, time.Now)}, events: &events{recorder: told},
	}, told
}

func held() *leases {
	l := &leases{}
	l.store(&api.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ours.Namespace, Name: ours.Name}})
	return l
}

// A fuse that has blown is blown in the next process, too, until a person has taken the
// annotation off the lease.
func TestFuseStaysBlown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := held()
		first, told := replica(l)
		if err := first.recall(t.Context()); err != nil || first.gate.fuse.isBlown() {
			t.Fatalf("blown from the start, %v", err)
		}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); first.watchFuse(ctx) }()
		synctest.Wait()
		l.fail(errDown)
		first.gate.fuse.blow(GarbageShare, "a storm")
		wait(t, time.Minute)
		l.fail(nil)
		<-done
		end()
		why := l.now().Annotations[FuseAnnotation]
		if !strings.HasSuffix(why, " GarbageShare: a storm") {
			t.Errorf("the lease says %q", why)
		}
		if text := <-told.Events; !strings.HasPrefix(text, "Warning FuseBlown ") || !strings.Contains(text, "kubectl annotate lease kubectl-gc -n gc kubectl-gc.io/fuse-blown-") {
			t.Errorf("the event says %q", text)
		}

		second, told := replica(l)
		if err := second.recall(t.Context()); err != nil {
			t.Fatal(err)
		}
		second.watchFuse(t.Context()) // has nothing to write
		if c, text := second.gate.fuse.state(); c != Remembered || text != why {
			t.Errorf("the next process knows %q of %q", text, c)
		}
		if err := second.gate.before(t.Context(), deleting("Pod")); !errors.Is(err, errFuseBlown) || len(told.Events) != 1 {
			t.Errorf("it refuses with %v, and tells %d times", err, len(told.Events))
		}

		l.touch(func(lease *api.Lease) { delete(lease.Annotations, FuseAnnotation) })
		third, _ := replica(l)
		if err := third.recall(t.Context()); err != nil || third.gate.fuse.isBlown() {
			t.Errorf("blown after it was mended, %v", err)
		}
	})
}

// A process that ends while the server does not answer tries it once more, and no
// longer; one that cannot read the lease does not begin.
func TestFuseCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := held()
		s, _ := replica(l)
		l.fail(errDown)
		if err := s.recall(t.Context()); !errors.Is(err, errDown) {
			t.Errorf("it begins with %v", err)
		}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.watchFuse(ctx) }()
		s.gate.fuse.take()
		s.gate.fuse.take()
		wait(t, 5*time.Second)
		end()
		began := time.Now()
		<-done
		if took := time.Since(began); took > 0 {
			t.Errorf("it ends %v after it was told to", took)
		}
	})
}

// The lease is renewed while the fuse is written to it.
func TestFuseBesideRenewals(t *testing.T) {
	l := held()
	writes := &raced{leases: l, times: 3}
	if _, err := (latch{leases: writes, lease: ours}).put(t.Context(), "why"); err != nil {
		t.Fatal(err)
	}
	if have := l.now(); have.Annotations[FuseAnnotation] != "why" || have.Labels["renewed"] != "yes" {
		t.Errorf("%+v", have)
	}
	if _, err := (latch{leases: l, lease: ours}).put(t.Context(), "another reason"); err != nil || l.now().Annotations[FuseAnnotation] != "why" {
		t.Errorf("the first reason is gone, %v", err)
	}
	writes.times = 100
	l.touch(func(lease *api.Lease) { delete(lease.Annotations, FuseAnnotation) })
	if _, err := (latch{leases: writes, lease: ours}).put(t.Context(), "why"); err == nil {
		t.Error("it is never given up")
	}
}

// An observer has no fuse, and a single process none that outlives it.
func TestNoLatch(t *testing.T) {
	s, _ := replica(&leases{fails: errDown})
	s.o.Enforce = false
	if err := s.recall(t.Context()); err != nil {
		t.Error(err)
	}
	s.o.Enforce, s.o.Lease = true, nil
	if err := s.recall(t.Context()); err != nil {
		t.Error(err)
	}
	s.gate.fuse.blow(DeletesPerMinute, "many")
	s.watchFuse(t.Context())
}
