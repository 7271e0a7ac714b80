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

// Lease says by which lease a replica leads.
type Lease struct {
	Namespace, Name string
	// Identity is unique among all processes of all time.
	Identity string
	// Duration is how long the others wait after the last renewal that they saw;
	// Renew how long we write after the last one that we sent; Retry how often it
	// is tried. What lies between the first two is for the requests under way.
	Duration, Renew, Retry time.Duration
}

// errLost ends a process that led. It cannot lead again: what it knows may be as old
// as the loss.
var errLost = errors.New("the lease was lost: another replica may lead")

// leaseFence is open for as long as this process may write. It counts from the moment before
// the last successful renewal was sent, on two clocks: that of the process, which
// nobody sets, goes on while a signal or the garbage collector of Go stops it; and that
// of the wall goes on while the machine sleeps. The one that is further counts.
//
// A nil fence is that of one who needs no lease.
type leaseFence struct {
	renew time.Duration
	now   func() instant
	// lost ends when the time is over.
	lost context.Context
	lose context.CancelFunc

	mu sync.Mutex
	// sent is when the last renewal was; zero before the first.
	sent  instant
	timer *time.Timer
}

// instant is a moment on both clocks.
type instant struct {
	process time.Duration
	wall    time.Time
}

// since is how much later than another instant it is.
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

// renewed says that a renewal succeeded that was sent at an instant.
func (t *leaseFence) renewed(sent instant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost.Err() != nil {
		return
	}
	t.sent = sent
	left := t.renew - t.now().since(sent)
	if t.timer == nil {
		t.timer = time.AfterFunc(left, t.check)
		return
	}
	t.timer.Reset(left)
}

// check closes the fence when its time has come. It does not open again.
func (t *leaseFence) check() { t.holds() }

// holds reports whether a write may start now.
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

// end closes a fence that nobody needs any more.
func (t *leaseFence) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	t.lose()
}

// renewals is a lock that takes note of when it was renewed, and of whether it can be
// asked for at all.
type renewals struct {
	resourcelock.Interface
	fence *leaseFence
	bar   func(error)
}

// Get reads the lease.
func (l renewals) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil || !apierrors.IsNotFound(err) { // one that is missing is made next
		l.bar(err)
	}
	return record, raw, err
}

// Create takes the lease.
func (l renewals) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	sent := l.fence.now()
	return l.note(sent, r, l.Interface.Create(ctx, r))
}

// Update takes the lease or renews it.
func (l renewals) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	sent := l.fence.now()
	return l.note(sent, r, l.Interface.Update(ctx, r))
}

func (l renewals) note(sent instant, r resourcelock.LeaderElectionRecord, err error) error {
	if err == nil && r.HolderIdentity == l.Identity() {
		l.fence.renewed(sent)
	}
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) { // somebody else was faster
		l.bar(err)
	}
	return err
}

// lead calls work as soon as this process leads, and ends it when it does not lead any
// more. The lease is given back when the work has ended by itself, so that another
// replica can lead at once, and only then.
func lead(ctx context.Context, client coordination.LeasesGetter, l Lease, t *leaseFence, bar func(error), work func(context.Context) error) error {
	lock := renewals{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: l.Identity},
		},
		fence: t, bar: bar,
	}
	defer t.end()
	started, stopped := make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: l.Duration, RenewDeadline: l.Renew, RetryPeriod: l.Retry, Name: l.Name,
		// Its own way of giving a lease back does not look whose it is by then.
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
		if t.holds() { // it was taken in the same moment
			return giveBack(context.WithoutCancel(ctx), lock, l)
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
		return errors.Join(err, giveBack(context.WithoutCancel(ctx), lock, l))
	case <-t.lost.Done():
	case <-stopped:
	}
	end()
	resign()
	err = <-done
	<-stopped
	return errors.Join(errLost, err)
}

// giveBack gives the lease back if it is still ours.
func giveBack(ctx context.Context, lock resourcelock.Interface, l Lease) error {
	ctx, cancel := context.WithTimeout(ctx, l.Renew)
	defer cancel()
	record, _, err := lock.Get(ctx)
	if err != nil || record.HolderIdentity != l.Identity {
		return nil // then it ends by itself
	}
	now := metav1.Now()
	record.HolderIdentity, record.LeaseDurationSeconds, record.RenewTime, record.AcquireTime = "", 1, now, now
	if err := lock.Update(ctx, *record); err != nil {
		return fmt.Errorf("giving the lease back: %w", err)
	}
	return nil
}
