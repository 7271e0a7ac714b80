package past_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// TestClock: Earliest is never too late, and At is unknown if the ticks around a revision are far
// apart. Of several ticks of one revision the latest counts, and a clock that is behind is ignored.
func TestClock(t *testing.T) {
	c := past.NewClock([]past.Moment{
		{Revision: 30, Time: 110}, {Revision: 10, Time: 100}, {Revision: 20, Time: 104}, {Revision: 20, Time: 106}, {Revision: 25, Time: 90}, {Revision: 60, Time: 126},
	})
	for revision, want := range map[uint64][2]int64{
		9: {0, 0}, 10: {100, 100}, 19: {100, 100}, 20: {106, 106}, 25: {106, 106}, 30: {110, 110}, 31: {0, 110}, 59: {0, 110}, 60: {126, 126}, 70: {126, 126},
	} {
		if got := [2]int64{c.At(revision).Time, c.Earliest(revision).Time}; got != want {
			t.Errorf("%d: %v, want %v", revision, got, want)
		}
	}
	for time, want := range map[int64]uint64{99: 0, 100: 10, 109: 20, 200: 60} {
		if got := c.Before(time).Revision; got != want {
			t.Errorf("at %d it was %d, want %d", time, got, want)
		}
	}
}

// TestClockWasAhead: a clock that was ahead for a while does not affect later times.
func TestClockWasAhead(t *testing.T) {
	var ticks []past.Moment
	for i := range int64(60) {
		ticks = append(ticks, past.Moment{Revision: uint64(10 * i), Time: 1000 + i})
		if i >= 20 && i < 25 {
			ticks = append(ticks, past.Moment{Revision: uint64(10*i + 5), Time: 1000 + i + 3*3600})
		}
	}
	c := past.NewClock(ticks)
	for i := range int64(60) {
		if got := c.At(uint64(10*i + 5)).Time; got != 1000+i {
			t.Errorf("%d was at %d, want %d", 10*i+5, got, 1000+i)
		}
	}
	if one := past.NewClock([]past.Moment{{Revision: 1, Time: 9000}, {Revision: 2, Time: 1000}}); one.Last().Time != 1000 {
		t.Errorf("of two that contradict each other %d is believed", one.Last().Time)
	}
	late := past.NewClock([]past.Moment{{Revision: 1, Time: 100}, {Revision: 5, Time: 108}, {Revision: 6, Time: 101}, {Revision: 7, Time: 101}, {Revision: 9, Time: 111}})
	if got := late.At(6).Time; got != 108 {
		t.Errorf("a lease that is not renewed yet moves %d to %d, want 108", 6, got)
	}
}

// TestUntil: a tick says that its time had come, not that the next second had not.
func TestUntil(t *testing.T) {
	clock := past.NewClock([]past.Moment{{Revision: 10, Time: 100}, {Revision: 20, Time: 100}, {Revision: 30, Time: 110}, {Revision: 40, Time: 120}})
	for revision, want := range map[uint64]int64{5: 110, 10: 110, 15: 110, 20: 110, 25: 120, 30: 120, 35: 0, 41: 0} {
		if got := clock.Until(revision); got != want {
			t.Errorf("%d: %d, not %d", revision, got, want)
		}
	}
}
