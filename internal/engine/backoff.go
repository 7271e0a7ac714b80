package engine

import (
	"container/heap"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
)

// Delays of attempts that failed, in nanoseconds: they double with every failure
// in a row and never end. There is no chance in them: attempts that failed
// together are spread by the workers that repeat them.
//
// Upstream: client-go/util/workqueue/default_rate_limiters.go DefaultTypedControllerRateLimiter,
// TypedItemExponentialFailureRateLimiter.When: 5 ms and 1000 s.
const (
	firstDelay = 5_000_000
	lastDelay  = 1_000_000_000_000
)

// delayAfter is how long an attempt waits that has failed so often in a row.
func delayAfter(failures int) int64 {
	if failures < 1 {
		failures = 1
	}
	if failures > 18 { // 5 ms doubled 17 times is less than 1000 s, 18 times is more
		return lastDelay
	}
	return firstDelay << (failures - 1)
}

// sleeper is a deferred attempt.
type sleeper struct {
	work Work
	id   graph.ID
}

// alarm is when a deferred attempt is due.
type alarm struct {
	due int64
	sleeper
}

// alarms are the deferred attempts of a run, the next one first. The time is
// whatever the driver counts in. The zero value has none.
type alarms struct {
	heap alarmHeap
	// valid is the last alarm that was set for each: an event may have brought an
	// attempt back and it was deferred again, so that an earlier alarm is void.
	valid map[sleeper]int64
}

func (a *alarms) set(due int64, work Work, id graph.ID) {
	if a.valid == nil {
		a.valid = map[sleeper]int64{}
	}
	x := alarm{due, sleeper{work, id}}
	a.valid[x.sleeper] = due
	heap.Push(&a.heap, x)
}

// next is when something may be due.
func (a *alarms) next() (due int64, ok bool) {
	if len(a.heap) == 0 {
		return 0, false
	}
	return a.heap[0].due, true
}

// take hands out the next alarm if it is due.
func (a *alarms) take(now int64) (alarm, bool) {
	for len(a.heap) > 0 && a.heap[0].due <= now {
		x := heap.Pop(&a.heap).(alarm)
		if a.valid[x.sleeper] == x.due {
			delete(a.valid, x.sleeper)
			return x, true
		}
	}
	return alarm{}, false
}

// alarmHeap is a heap by time.
type alarmHeap []alarm

// Len, Less, Swap, Push and Pop are for package heap.
func (a alarmHeap) Len() int           { return len(a) }
func (a alarmHeap) Less(i, j int) bool { return a[i].due < a[j].due }
func (a alarmHeap) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push is for package heap.
func (a *alarmHeap) Push(x any) { *a = append(*a, x.(alarm)) }

// Pop is for package heap.
func (a *alarmHeap) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}
