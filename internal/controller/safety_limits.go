package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// cause is what tripped the safety limit.
type cause string

// The causes.
const (
	// deletesPerMinute: more deletes within a minute than allowed.
	deletesPerMinute cause = "DeletesPerMinute"
	// garbageShare: a larger share of the cluster became garbage within a minute than allowed.
	garbageShare cause = "GarbageShare"
	// remembered: it was tripped in an earlier process and has not been reset since.
	remembered cause = "Remembered"
)

// circuitBreaker limits the deletes in any minute. One delete more trips it, and so does trip. Once
// it has tripped, it allows nothing: a collector that deletes more than expected cannot be trusted
// with the rest. Only a person can reset it. It is safe for concurrent use.
type circuitBreaker struct {
	now  func() time.Time
	most int
	// tripped is closed when the limit trips.
	tripped chan struct{}

	mu    sync.Mutex
	cause cause // empty until it trips
	why   string
	// last are the times of the last deletes, as a ring that grows as needed; next is the index of
	// the oldest one.
	last []time.Time
	next int
}

// newCircuitBreaker returns a breaker that allows most deletes per minute; 0 means any number.
func newCircuitBreaker(most int, now func() time.Time) *circuitBreaker {
	return &circuitBreaker{now: now, most: most, tripped: make(chan struct{})}
}

// take counts a delete, and reports whether it may be sent.
func (b *circuitBreaker) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause != "" || b.most == 0 {
		return b.cause == ""
	}
	now := b.now()
	switch {
	case len(b.last) < b.most:
		b.last = append(b.last, now)
		return true
	case now.Sub(b.last[b.next]) < time.Minute:
		b.set(deletesPerMinute, fmt.Sprintf("one delete more than the %d that are allowed in a minute", b.most))
		return false
	}
	b.last[b.next] = now
	b.next = (b.next + 1) % len(b.last)
	return true
}

// trip trips the breaker. Only the first cause is kept.
func (b *circuitBreaker) trip(c cause, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(c, why)
}

func (b *circuitBreaker) set(c cause, why string) {
	if b.cause == "" {
		b.cause, b.why = c, why
		close(b.tripped)
	}
}

// state returns what tripped the safety limit, and why. Both are empty until it trips.
func (b *circuitBreaker) state() (c cause, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cause, b.why
}

func (b *circuitBreaker) isTripped() bool {
	c, _ := b.state()
	return c != ""
}

const (
	// gathering is how long garbage is counted before the first object is deleted. Whatever made
	// one object garbage has made others garbage by then too.
	gathering = 5 * time.Second
	// fewGarbage is a number of garbage objects that is acceptable even in the smallest cluster.
	fewGarbage = 100
)

// garbageRateLimit counts garbage before any of it is deleted. Objects are found one after the
// other, and a rate limiter delays deletes. A breaker that counts deletes would therefore allow
// many before it sees that half of the cluster is affected. Owners that vanish all at once, as in a
// restored storage or with a CRD, cause that.
type garbageRateLimit struct {
	percent int
	now     func() time.Time
	// known returns the number of existing objects.
	known func(context.Context) (int, error)

	mu    sync.Mutex
	found map[types.UID]garbageTimes
	// limit is how many may be found within a minute; measured is the time of its computation.
	limit    int
	measured time.Time
}

// garbageTimes are when an object was first and last found to be garbage.
type garbageTimes struct{ first, last time.Time }

func newGarbageRateLimit(percent int, now func() time.Time, known func(context.Context) (int, error)) *garbageRateLimit {
	return &garbageRateLimit{percent: percent, now: now, known: known, found: map[types.UID]garbageTimes{}, limit: fewGarbage}
}

// record counts a garbage object. settled is true if the object was first found at least gathering ago,
// so that other garbage with the same cause has been found too. why is set if there is too much
// garbage: the limit then trips.
func (s *garbageRateLimit) record(ctx context.Context, uid types.UID) (settled bool, why string, err error) {
	settled, n, limit := s.count(uid)
	if n <= limit {
		return settled, "", nil
	}
	known, err := s.known(ctx)
	if err != nil {
		return false, "", fmt.Errorf("of how many objects %d are garbage: %w", n, err)
	}
	if n > s.measure(known) {
		return false, fmt.Sprintf("%d of %d objects became garbage within a minute, at most %d%% may", n, known, s.percent), nil
	}
	return settled, "", nil
}

// count records an object, and returns how many were found within a minute, and the limit. The
// limit falls back to fewGarbage if it was measured more than a minute ago.
func (s *garbageRateLimit) count(uid types.UID) (settled bool, n, limit int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	x, known := s.found[uid]
	if !known || now.Sub(x.last) >= time.Minute {
		x.first = now
	}
	x.last = now
	s.found[uid] = x
	if now.Sub(s.measured) >= time.Minute {
		s.limit = fewGarbage
	}
	if len(s.found) > s.limit {
		maps.DeleteFunc(s.found, func(_ types.UID, x garbageTimes) bool { return now.Sub(x.last) >= time.Minute })
	}
	return now.Sub(x.first) >= gathering, len(s.found), s.limit
}

// measure sets and returns the limit for a number of existing objects.
func (s *garbageRateLimit) measure(known int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit, s.measured = known*s.percent/100, s.now()
	return s.limit
}

// tripRecord returns where a tripped limit is remembered. It returns false without a lease, because
// there is no other object to write to, and for an observer, which never trips a limit.
func (s *service) tripRecord() (tripRecord, bool) {
	if s.o.Lease == nil || !s.o.Enforce {
		return tripRecord{}, false
	}
	return tripRecord{leases: s.leases, lease: *s.o.Lease}, true
}

// restoreTripped trips the limit again if the lease records that an earlier process tripped it.
func (s *service) restoreTripped(ctx context.Context) error {
	l, ok := s.tripRecord()
	if !ok {
		return nil
	}
	why, uid, err := l.read(ctx)
	if err != nil || why == "" {
		return err
	}
	s.gate.breaker.trip(remembered, why)
	s.o.Log.Error("the safety limit had tripped before: nothing is written", "why", why, "reset", l.reset())
	s.reportTripped(l, uid, why)
	return nil
}

// watchLimit waits until the limit trips, reports it, and writes it to the lease for the next
// process.
func (s *service) watchLimit(ctx context.Context) {
	if c, _ := s.gate.breaker.state(); c == remembered {
		return
	}
	select {
	case <-s.gate.breaker.tripped:
	case <-ctx.Done():
		if !s.gate.breaker.isTripped() {
			return
		}
	}
	cause, why := s.gate.breaker.state()
	l, ok := s.tripRecord()
	if !ok {
		s.o.Log.Error("the safety limit has tripped: nothing is written any more", "cause", string(cause), "why", why,
			"reset", "when you know why, start the controller anew")
		return
	}
	s.o.Log.Error("the safety limit has tripped: nothing is written any more", "cause", string(cause), "why", why, "reset", l.reset())
	text := time.Now().UTC().Format(time.RFC3339) + " " + string(cause) + ": " + why
	uid := l.write(ctx, text, func(err error) {
		s.o.Log.Error("the lease does not say yet that the safety limit has tripped: it is tried again", "error", err)
	})
	s.reportTripped(l, uid, text)
}

// reportTripped sends an event about the lease.
func (s *service) reportTripped(l tripRecord, uid types.UID, why string) {
	s.events.recorder.Event(about(object.Ref{
		APIVersion: coordination.SchemeGroupVersion.String(), Kind: "Lease", Namespace: l.lease.Namespace, Name: l.lease.Name, UID: uid,
	}), corev1.EventTypeWarning, string(reason.SafetyLimitTripped), why+". Nothing is written; "+l.reset())
}

// trippedAnnotation is on the lease while the safety limit is tripped. Its value has the time and
// the reason. A new leader that finds it writes nothing. Only a person removes it.
const trippedAnnotation = "kubectl-gc.io/safety-limit-tripped"

// tripRecord keeps a tripped limit across restarts. Otherwise a restart by the kubelet would reset
// it.
type tripRecord struct {
	leases coordinationclient.LeasesGetter
	lease  Lease
}

// read returns the reason on the lease; empty if the limit is not tripped. An unreadable lease is
// an error, because it may have a reason.
func (l tripRecord) read(ctx context.Context) (why string, uid types.UID, err error) {
	have, err := l.leases.Leases(l.lease.Namespace).Get(ctx, l.lease.Name, metav1.GetOptions{})
	if err != nil {
		return "", "", fmt.Errorf("whether the safety limit has tripped stands on the lease: %w", err)
	}
	why, there := have.Annotations[trippedAnnotation]
	if there && why == "" {
		why = "nobody says why"
	}
	return why, have.UID, nil
}

// write writes the reason to the lease, with retries, and returns the uid of the lease. An existing
// reason is kept. After the end of the context it tries once more.
func (l tripRecord) write(ctx context.Context, why string, failed func(error)) types.UID {
	for {
		last := ctx.Err() != nil
		uid, err := l.put(context.WithoutCancel(ctx), why)
		if err == nil {
			return uid
		}
		failed(err)
		if last {
			return ""
		}
		select {
		case <-ctx.Done():
		case <-time.After(l.lease.Retry):
		}
	}
}

// put tries to write once. A conflict with a renewal of the lease is retried.
func (l tripRecord) put(ctx context.Context, why string) (types.UID, error) {
	ctx, stop := context.WithTimeout(ctx, answerTimeout)
	defer stop()
	leases := l.leases.Leases(l.lease.Namespace)
	var conflict error
	for range 5 {
		have, err := leases.Get(ctx, l.lease.Name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		if _, there := have.Annotations[trippedAnnotation]; there {
			return have.UID, nil
		}
		metav1.SetMetaDataAnnotation(&have.ObjectMeta, trippedAnnotation, why)
		_, conflict = leases.Update(ctx, have, metav1.UpdateOptions{})
		if !apierrors.IsConflict(conflict) {
			return have.UID, conflict
		}
	}
	return "", errors.Join(errors.New("the lease is written to all the time"), conflict)
}

// reset returns the instructions for resetting the limit.
func (l tripRecord) reset() string {
	return fmt.Sprintf("when you know why, kubectl annotate lease %s -n %s %s- and start the controller anew", l.lease.Name, l.lease.Namespace, trippedAnnotation)
}
