package engine

import (
	"container/heap"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
)

// Delays of failed attempts, in nanoseconds. They double with every consecutive failure, up to
// lastDelay, and retries never stop. They have no jitter: the workers spread attempts that failed
// together.
//
// Upstream: client-go/util/workqueue/default_rate_limiters.go DefaultTypedControllerRateLimiter,
// TypedItemExponentialFailureRateLimiter.When: 5 ms and 1000 s.
const (
	firstDelay = 5_000_000
	lastDelay  = 1_000_000_000_000
)

// delayAfter returns the delay after a number of consecutive failures.
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

// alarm is a deferred attempt and the time at which it is due.
type alarm struct {
	due int64
	sleeper
}

// alarms are the deferred attempts of a run, ordered by due time, in the unit of the driver. The
// zero value is empty.
type alarms struct {
	heap alarmHeap
	// valid is the last due time of each attempt. Earlier entries of the heap are void: an event
	// may have queued the attempt before its alarm, and it was deferred again.
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

// next returns the earliest due time; it may be that of a void alarm.
func (a *alarms) next() (due int64, ok bool) {
	if len(a.heap) == 0 {
		return 0, false
	}
	return a.heap[0].due, true
}

// take removes and returns the next alarm if it is due.
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

// alarmHeap is a heap ordered by due time.
type alarmHeap []alarm

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (a alarmHeap) Len() int           { return len(a) }
func (a alarmHeap) Less(i, j int) bool { return a[i].due < a[j].due }
func (a alarmHeap) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push implements heap.Interface.
func (a *alarmHeap) Push(x any) { *a = append(*a, x.(alarm)) }

// Pop implements heap.Interface.
func (a *alarmHeap) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}
