package controller

import (
	"fmt"
	"sync"
	"time"
)

// cause says what has tripped the safety limit.
type cause string

// The causes.
const (
	// deletesPerMinute: more was deleted within a minute than allowed.
	deletesPerMinute cause = "DeletesPerMinute"
	// garbageShare: more of the cluster became garbage within a minute than allowed.
	garbageShare cause = "GarbageShare"
	// remembered: it was tripped in an earlier process, and nobody has reset it since.
	remembered cause = "Remembered"
)

// causes lists the causes.
func causes() []cause { return []cause{deletesPerMinute, garbageShare, remembered} }

// circuitBreaker lets so many deletes through in any minute. One more trips it, and so does
// whoever else sees that something is wrong; then it lets nothing through any more: a
// collector that deletes more than anybody expected is not to be trusted with the rest.
// Nothing but a person resets it.
type circuitBreaker struct {
	now  func() time.Time
	most int
	// tripped is closed when the limit trips.
	tripped chan struct{}

	mu    sync.Mutex
	cause cause // empty while it has not tripped
	why   string
	// last are the times of the last deletes, as a ring that has grown to what was
	// needed; next is the oldest one.
	last []time.Time
	next int
}

// newCircuitBreaker makes one; most is 0 for one that no number of deletes trips.
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

// trip trips it. The first cause counts.
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

// state is what has tripped the safety limit, and why; empty while it has not tripped.
func (b *circuitBreaker) state() (c cause, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cause, b.why
}

func (b *circuitBreaker) isTripped() bool {
	c, _ := b.state()
	return c != ""
}
