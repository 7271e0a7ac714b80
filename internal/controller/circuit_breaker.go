package controller

import (
	"fmt"
	"sync"
	"time"
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

// causes returns all causes.
func causes() []cause { return []cause{deletesPerMinute, garbageShare, remembered} }

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
