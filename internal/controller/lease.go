package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lease configures the leader election.
type Lease struct {
	Namespace, Name string
	// Identity is unique among all processes that ever run.
	Identity string
	// Duration is how long other replicas wait after the last renewal that they saw. Renew is how
	// long this one writes after the last renewal that it sent. Retry is the interval of attempts.
	// The difference of the first two is left for requests in progress.
	Duration, Renew, Retry time.Duration
}

// errLost ends a process that was the leader. It cannot lead again, because its state may be as old
// as the loss.
var errLost = errors.New("the lease was lost: another replica may lead")

// leaseFence is open while this process may write. It counts from the moment before the last
// successful renewal was sent, on two clocks. The process clock, which cannot be set, continues
// while a signal or the garbage collector of Go stops the process. The wall clock continues while
// the machine sleeps. The larger difference counts.
//
// A nil fence is always open, for a process without a lease.
type leaseFence struct {
	renew time.Duration
	now   func() instant
	// lost ends when the fence closes.
	lost context.Context
	lose context.CancelFunc

	mu sync.Mutex
	// sent is when the last successful renewal was sent; zero before the first.
	sent  instant
	timer *time.Timer
}

// instant is a moment on both clocks.
type instant struct {
	process time.Duration
	wall    time.Time
}

// since returns the larger of the differences on both clocks.
func (i instant) since(other instant) time.Duration {
	return max(i.process-other.process, i.wall.Sub(other.wall))
}

func newLeaseFence(renew time.Duration) *leaseFence {
	t := &leaseFence{renew: renew}
	began := time.Now()
	t.now = func() instant { return instant{time.Since(began), time.Now().Round(0)} }
	t.lost, t.lose = context.WithCancel(context.Background())
	return t
}

// renewed records a successful renewal that was sent at an instant.
func (t *leaseFence) renewed(sent instant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost.Err() != nil {
		return
	}
	t.sent = sent
	left := t.renew - t.now().since(sent)
	if t.timer == nil {
		t.timer = time.AfterFunc(left, func() { t.holds() })
		return
	}
	t.timer.Reset(left)
}

// holds reports whether a write may start now. It closes the fence if its time has passed. A closed
// fence never opens again.
func (t *leaseFence) holds() bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost.Err() != nil || t.sent == (instant{}) {
		return false
	}
	if t.now().since(t.sent) < t.renew {
		return true
	}
	t.lose()
	return false
}

// end closes a fence that is no longer needed.
func (t *leaseFence) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	t.lose()
}

// renewals is a lock that records its renewals, and passes the results of its requests to bar.
type renewals struct {
	resourcelock.Interface
	fence    *leaseFence
	onResult func(error)
}

// Get reads the lease.
func (l renewals) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil || !apierrors.IsNotFound(err) { // a missing lease is created next
		l.onResult(err)
	}
	return record, raw, err
}

// Create creates the lease and acquires it.
func (l renewals) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	sent := l.fence.now()
	return l.note(sent, r, l.Interface.Create(ctx, r))
}

// Update acquires the lease or renews it.
func (l renewals) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	sent := l.fence.now()
	return l.note(sent, r, l.Interface.Update(ctx, r))
}

func (l renewals) note(sent instant, r resourcelock.LeaderElectionRecord, err error) error {
	if err == nil && r.HolderIdentity == l.Identity() {
		l.fence.renewed(sent)
	}
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) { // another request won the race
		l.onResult(err)
	}
	return err
}

// lead calls work once this process is the leader, and ends it when it no longer is. Unless the
// lease is lost first, it is released after work returns, so that another replica can lead at once.
func lead(ctx context.Context, client coordination.LeasesGetter, l Lease, t *leaseFence, bar func(error), work func(context.Context) error) error {
	lock := renewals{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: l.Identity},
		},
		fence: t, onResult: bar,
	}
	defer t.end()
	started, stopped := make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: l.Duration, RenewDeadline: l.Renew, RetryPeriod: l.Retry, Name: l.Name,
		// The elector's own release does not check who holds the lease by then.
		ReleaseOnCancel: false,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(started) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("the lease: %w", err)
	}
	// The lease is renewed until the last request is answered.
	electing, resign := context.WithCancel(context.WithoutCancel(ctx))
	defer resign()
	go func() {
		defer close(stopped)
		elector.Run(electing)
	}()
	select {
	case <-started:
	case <-ctx.Done():
		resign()
		<-stopped
		if t.holds() { // it was acquired at the same moment
			return releaseLease(context.WithoutCancel(ctx), lock, l)
		}
		return nil
	}
	working, end := context.WithCancel(ctx)
	defer end()
	done := make(chan error, 1)
	go func() { done <- work(working) }()
	select {
	case err = <-done:
		resign()
		<-stopped
		return errors.Join(err, releaseLease(context.WithoutCancel(ctx), lock, l))
	case <-t.lost.Done():
	case <-stopped:
	}
	end()
	resign()
	err = <-done
	<-stopped
	return errors.Join(errLost, err)
}

// releaseLease releases the lease if this process still holds it.
func releaseLease(ctx context.Context, lock resourcelock.Interface, l Lease) error {
	ctx, cancel := context.WithTimeout(ctx, l.Renew)
	defer cancel()
	record, _, err := lock.Get(ctx)
	if err != nil || record.HolderIdentity != l.Identity {
		return nil // then it expires by itself
	}
	now := metav1.Now()
	record.HolderIdentity, record.LeaseDurationSeconds, record.RenewTime, record.AcquireTime = "", 1, now, now
	if err := lock.Update(ctx, *record); err != nil {
		return fmt.Errorf("giving the lease back: %w", err)
	}
	return nil
}
