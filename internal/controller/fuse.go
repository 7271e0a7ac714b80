package controller

import (
	"fmt"
	"sync"
	"time"
)

// Cause says what has blown the fuse.
type Cause string

// The causes.
const (
	// DeletesPerMinute: more was deleted within a minute than allowed.
	DeletesPerMinute Cause = "DeletesPerMinute"
	// GarbageShare: more of the cluster became garbage within a minute than allowed.
	GarbageShare Cause = "GarbageShare"
	// Remembered: it was blown in an earlier process, and nobody has mended it since.
	Remembered Cause = "Remembered"
)

// causes lists the causes.
func causes() []Cause { return []Cause{DeletesPerMinute, GarbageShare, Remembered} }

// fuse lets so many deletes through in any minute. One more blows it, and so does
// whoever else sees that something is wrong; then it lets nothing through any more: a
// collector that deletes more than anybody expected is not to be trusted with the rest.
// Nothing but a person makes it whole again.
type fuse struct {
	now  func() time.Time
	most int
	// blowing is closed when the fuse blows.
	blowing chan struct{}

	mu    sync.Mutex
	cause Cause // empty while it is whole
	why   string
	// last are the times of the last deletes, as a ring that has grown to what was
	// needed; next is the oldest one.
	last []time.Time
	next int
}

// newFuse makes a fuse; most is 0 for one that no number of deletes blows.
func newFuse(most int, now func() time.Time) *fuse {
	return &fuse{now: now, most: most, blowing: make(chan struct{})}
}

// take counts a delete, and tells whether it may be sent.
func (f *fuse) take() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cause != "" || f.most == 0 {
		return f.cause == ""
	}
	now := f.now()
	switch {
	case len(f.last) < f.most:
		f.last = append(f.last, now)
		return true
	case now.Sub(f.last[f.next]) < time.Minute:
		f.blown(DeletesPerMinute, fmt.Sprintf("one delete more than the %d that are allowed in a minute", f.most))
		return false
	}
	f.last[f.next] = now
	f.next = (f.next + 1) % len(f.last)
	return true
}

// blow blows the fuse. The first cause counts.
func (f *fuse) blow(c Cause, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blown(c, why)
}

func (f *fuse) blown(c Cause, why string) {
	if f.cause == "" {
		f.cause, f.why = c, why
		close(f.blowing)
	}
}

// state is what has blown the fuse, and why; empty while it is whole.
func (f *fuse) state() (c Cause, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cause, f.why
}

func (f *fuse) isBlown() bool {
	c, _ := f.state()
	return c != ""
}
