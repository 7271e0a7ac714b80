package past

import (
	"cmp"
	"slices"
	"sort"
)

// Clock maps revisions to times, from objects that are renewed at known times. Revisions themselves
// have no time. The zero value knows nothing.
type Clock struct{ ticks []Moment }

// maxLeaseLag is the maximum age, in seconds, of the last renewal of a lease in a list. A tick can
// be that far behind.
const maxLeaseLag = 60

// NewClock returns a clock of ticks in any order. A tick says that its time had come at its
// revision. A later tick with an earlier time adds nothing and is dropped. A tick that is more than
// maxLeaseLag seconds ahead of later ticks comes from a clock that was ahead. It is dropped unless
// most ticks agree with it. Of several ticks of one revision the latest counts.
//
//	revision  10   20    30   40   50
//	time      100  9000  110  109  120   20 and 40 are dropped
func NewClock(ticks []Moment) Clock {
	ticks = slices.Clone(ticks)
	slices.SortFunc(ticks, func(a, b Moment) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(b.Time, a.Time))
	})
	agreed := longestNonDecreasing(ticks)
	kept := ticks[:0]
	for _, t := range ticks {
		for len(agreed) > 0 && agreed[0].Revision <= t.Revision {
			agreed = agreed[1:]
		}
		ahead := len(agreed) > 0 && t.Time > agreed[0].Time+maxLeaseLag
		if n := len(kept); !ahead && (n == 0 || t.Time >= kept[n-1].Time && t.Revision != kept[n-1].Revision) {
			kept = append(kept, t)
		}
	}
	return Clock{kept}
}

// longestNonDecreasing returns the longest subsequence of ticks with non-decreasing times.
func longestNonDecreasing(ticks []Moment) []Moment {
	var ends []int // ends[n] is the tick with the earliest time that can end n+1 rising ticks
	before := make([]int, len(ticks))
	for i, t := range ticks {
		n := sort.Search(len(ends), func(n int) bool { return ticks[ends[n]].Time > t.Time })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	kept := make([]Moment, len(ends))
	for n, i := len(ends)-1, ends[len(ends)-1]; n >= 0; n, i = n-1, before[i] {
		kept[n] = ticks[i]
	}
	return kept
}

// Earliest returns the moment of a revision with a lower bound of its time, as exact as the
// distance of the ticks. The time of a revision before the first tick is unknown.
func (c Clock) Earliest(revision uint64) Moment {
	i, found := c.search(revision)
	switch {
	case found:
		return c.ticks[i]
	case i == 0:
		return Moment{Revision: revision}
	}
	return Moment{revision, c.ticks[i-1].Time}
}

// maxTickGap is the largest gap, in seconds, between known times of a cluster. The time of a
// revision in a larger gap counts as unknown.
const maxTickGap = 15

// At returns Earliest if the ticks around the revision are close. Otherwise the time is unknown.
func (c Clock) At(revision uint64) Moment {
	i, found := c.search(revision)
	if !found && i > 0 && i < len(c.ticks) && c.ticks[i].Time-c.ticks[i-1].Time > maxTickGap {
		return Moment{Revision: revision}
	}
	return c.Earliest(revision)
}

// search returns the index of the tick of a revision, or of the first one after it.
func (c Clock) search(revision uint64) (i int, found bool) {
	return slices.BinarySearchFunc(c.ticks, revision, func(t Moment, r uint64) int { return cmp.Compare(t.Revision, r) })
}

// Until returns an upper bound for the time of a revision: that of the first tick with a later
// time. It returns 0 if the clock has none.
func (c Clock) Until(revision uint64) int64 {
	i, _ := c.search(revision)
	for k := i + 1; k < len(c.ticks); k++ {
		if c.ticks[k].Time > c.ticks[i].Time {
			return c.ticks[k].Time
		}
	}
	return 0
}

// Before returns the last moment that the clock knows to be no later than a time. It returns the
// zero value if there is none.
func (c Clock) Before(time int64) Moment {
	i := sort.Search(len(c.ticks), func(i int) bool { return c.ticks[i].Time > time })
	if i == 0 {
		return Moment{}
	}
	return c.ticks[i-1]
}

// First returns the oldest moment that the clock knows; the zero value if it is empty.
func (c Clock) First() Moment {
	if len(c.ticks) == 0 {
		return Moment{}
	}
	return c.ticks[0]
}

// Last returns the newest moment that the clock knows; the zero value if it is empty.
func (c Clock) Last() Moment {
	if len(c.ticks) == 0 {
		return Moment{}
	}
	return c.ticks[len(c.ticks)-1]
}

// Ticks returns the moments that the clock knows, oldest first. Callers must not change them.
func (c Clock) Ticks() []Moment { return c.ticks }
