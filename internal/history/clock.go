package history

import (
	"cmp"
	"slices"
)

// Clock tells when a revision was, from objects that somebody renews at known times. There is
// no clock in revisions themselves. The zero value knows nothing.
type Clock struct{ ticks []Moment }

// lag is how many seconds after a lease was renewed a list may still show that as the last time.
const lag = 60

// NewClock returns a clock of ticks in any order. A tick says that its time had come at its revision: a
// later tick with an earlier time says less, and is left out. A tick that is further ahead of later ones than
// a lag explains is of a clock that was ahead, and is left out unless most ticks agree with it. Of several
// ticks of one revision the latest counts.
//
//	revision  10   20    30   40   50
//	time      100  9000  110  109  120   20 and 40 are left out
func NewClock(ticks []Moment) Clock {
	ticks = slices.Clone(ticks)
	slices.SortFunc(ticks, func(a, b Moment) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(b.Time, a.Time))
	})
	agreed := longestRising(ticks)
	kept := ticks[:0]
	for _, t := range ticks {
		for len(agreed) > 0 && agreed[0].Revision <= t.Revision {
			agreed = agreed[1:]
		}
		ahead := len(agreed) > 0 && t.Time > agreed[0].Time+lag
		if n := len(kept); !ahead && (n == 0 || t.Time >= kept[n-1].Time && t.Revision != kept[n-1].Revision) {
			kept = append(kept, t)
		}
	}
	return Clock{kept}
}

// longestRising returns the longest subsequence of ticks in which the time never goes back.
func longestRising(ticks []Moment) []Moment {
	var ends []int // ends[n] is the tick with the earliest time at which n+1 ticks that agree can end
	before := make([]int, len(ticks))
	for i, t := range ticks {
		n, _ := slices.BinarySearchFunc(ends, t.Time, func(end int, time int64) int {
			if ticks[end].Time <= time {
				return -1
			}
			return 1
		})
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

// Earliest is the moment of a revision: not later than it was, and as exact as the ticks are
// apart. The time of a revision before the first tick is not known.
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

// vague is how many seconds the ticks around a revision may be apart at most for its time to be
// called known.
const vague = 15

// At is Earliest where that tells when a revision was: the time is not known of one with a long
// time between the ticks around it.
func (c Clock) At(revision uint64) Moment {
	i, found := c.search(revision)
	if !found && i > 0 && i < len(c.ticks) && c.ticks[i].Time-c.ticks[i-1].Time > vague {
		return Moment{Revision: revision}
	}
	return c.Earliest(revision)
}

// search is the place of the tick of a revision, or of the first one behind it.
func (c Clock) search(revision uint64) (i int, found bool) {
	return slices.BinarySearchFunc(c.ticks, revision, func(t Moment, r uint64) int { return cmp.Compare(t.Revision, r) })
}

// Until is a time by which a revision had been made: that of the first tick which says that time
// has passed since. It is 0 where the clock knows none.
func (c Clock) Until(revision uint64) int64 {
	i, _ := c.search(revision)
	for k := i + 1; k < len(c.ticks); k++ {
		if c.ticks[k].Time > c.ticks[i].Time {
			return c.ticks[k].Time
		}
	}
	return 0
}

// Before is the last moment that the clock knows to be no later than a time. It is the zero
// value where it knows none.
func (c Clock) Before(time int64) Moment {
	i, _ := slices.BinarySearchFunc(c.ticks, time, func(t Moment, at int64) int {
		if t.Time <= at {
			return -1
		}
		return 1
	})
	if i == 0 {
		return Moment{}
	}
	return c.ticks[i-1]
}

// First and Last are the ends of what the clock knows; zero values of an empty one.
func (c Clock) First() Moment {
	if len(c.ticks) == 0 {
		return Moment{}
	}
	return c.ticks[0]
}

// Last is the newest moment that the clock knows.
func (c Clock) Last() Moment {
	if len(c.ticks) == 0 {
		return Moment{}
	}
	return c.ticks[len(c.ticks)-1]
}

// Ticks are the moments that the clock knows, oldest first. Callers must not change them.
func (c Clock) Ticks() []Moment { return c.ticks }
