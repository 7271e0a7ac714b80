package controller

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

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
	found map[types.UID]sighting
	// limit is how many may be found within a minute; measured is the time of its computation.
	limit    int
	measured time.Time
}

// sighting is when an object was found to be garbage.
type sighting struct{ first, last time.Time }

func newGarbageRateLimit(percent int, now func() time.Time, known func(context.Context) (int, error)) *garbageRateLimit {
	return &garbageRateLimit{percent: percent, now: now, known: known, found: map[types.UID]sighting{}, limit: fewGarbage}
}

// see counts an object. settled is true if it was found long enough ago that other garbage with the
// same cause has been found too. why is set if there is too much garbage.
func (s *garbageRateLimit) see(ctx context.Context, uid types.UID) (settled bool, why string, err error) {
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
		maps.DeleteFunc(s.found, func(_ types.UID, x sighting) bool { return now.Sub(x.last) >= time.Minute })
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
