package history

import (
	"cmp"
	"slices"
)

// Clock tells when a revision was, from objects that somebody renews at known times. There is
// no clock in revisions themselves. The zero value knows nothing.
type Clock struct{ ticks []Moment }

// NewClock makes a clock from revisions whose time is known, in any order. A tick that says an
// earlier time than one before it is one of a clock that is behind, and is left out.
func NewClock(ticks []Moment) Clock {
	ticks = slices.Clone(ticks)
	slices.SortFunc(ticks, func(a, b Moment) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Time, b.Time))
	})
	kept := ticks[:0]
	for _, t := range ticks {
		switch n := len(kept); {
		case n == 0 || t.Time >= kept[n-1].Time && t.Revision != kept[n-1].Revision:
			kept = append(kept, t)
		case t.Revision == kept[n-1].Revision:
			kept[n-1] = t
		}
	}
	return Clock{kept}
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
