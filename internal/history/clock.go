package history

import "slices"

// Clock tells when a revision was, from objects that somebody renews at known times. There is
// no clock in revisions themselves. The zero value knows nothing.
type Clock struct{ ticks []Moment }

// NewClock makes a clock from revisions whose time is known, in any order. A tick that says an
// earlier time than one before it is one of a clock that is behind, and is left out.
func NewClock(ticks []Moment) Clock {
	ticks = slices.Clone(ticks)
	slices.SortFunc(ticks, func(a, b Moment) int {
		switch {
		case a.Revision != b.Revision && a.Revision < b.Revision, a.Revision == b.Revision && a.Time < b.Time:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	kept := ticks[:0]
	for _, t := range ticks {
		if n := len(kept); n > 0 && (t.Time < kept[n-1].Time || t.Revision == kept[n-1].Revision) {
			continue
		}
		kept = append(kept, t)
	}
	return Clock{kept}
}

// At is the moment of a revision: not later than it was, and as exact as the ticks are apart.
// The time of a revision before the first tick is not known.
func (c Clock) At(revision uint64) Moment {
	i, found := slices.BinarySearchFunc(c.ticks, revision, func(t Moment, r uint64) int {
		switch {
		case t.Revision < r:
			return -1
		case t.Revision > r:
			return 1
		}
		return 0
	})
	if found {
		return c.ticks[i]
	}
	if i == 0 {
		return Moment{Revision: revision}
	}
	return Moment{revision, c.ticks[i-1].Time}
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
