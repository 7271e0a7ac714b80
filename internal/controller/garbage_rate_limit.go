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
	// gathering is for how long garbage is counted before the first of it is deleted:
	// whatever made one object garbage has made others by then, too.
	gathering = 5 * time.Second
	// fewGarbage is what is not too much in the smallest of clusters.
	fewGarbage = 100
)

// garbageRateLimit counts what is found to be garbage before any of it is deleted. Objects are
// found one after the other, and a limiter lets few go at a time; a breaker that counted
// deletes would let many go before it saw that half of the cluster is meant. Owners
// that vanish all at once, as in a restored storage or with a definition, look so.
type garbageRateLimit struct {
	percent int
	now     func() time.Time
	// known counts the objects that there are.
	known func(context.Context) (int, error)

	mu    sync.Mutex
	found map[types.UID]sighting
	// limit is how many may be found within a minute; measured is when that was
	// worked out.
	limit    int
	measured time.Time
}

// sighting is when an object was found to be garbage.
type sighting struct{ first, last time.Time }

func newGarbageRateLimit(percent int, now func() time.Time, known func(context.Context) (int, error)) *garbageRateLimit {
	return &garbageRateLimit{percent: percent, now: now, known: known, found: map[types.UID]sighting{}, limit: fewGarbage}
}

// see counts an object. Settled tells that it was found long enough ago for others of
// its kind of trouble to have been found, too. Why is set when they are too many.
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

// count takes note of an object, and returns how many were found within a minute, and
// how many may be as far as that is known: no more than a few when it was long ago.
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

// measure works out how many may be found of so many.
func (s *garbageRateLimit) measure(known int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit, s.measured = known*s.percent/100, s.now()
	return s.limit
}
