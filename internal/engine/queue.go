package engine

import (
	"container/heap"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
)

// Work is the kind of an attempt.
type Work uint8

const (
	// DeleteWork: check whether the object must be deleted.
	DeleteWork Work = iota
	// OrphanWork: remove the owner reference from the object's dependents.
	OrphanWork
)

// String returns the name used in traces.
func (w Work) String() string {
	if w == OrphanWork {
		return "orphan"
	}
	return "delete"
}

// mark is the state of a node in one queue, as bit flags.
type mark uint8

const (
	queued   mark = 1 << iota // waits to be taken
	inFlight                  // taken, not settled
	dirty                     // queued again while in flight
	deferred                  // waits to be woken
	listed                    // is in the list of deferred nodes, woken or not
)

// queue is a FIFO set of nodes with the contract of client-go's workqueue. Adding a waiting node
// changes nothing. A node in flight is not taken a second time. If it is added meanwhile, it is
// queued again after it was settled.
type queue struct {
	items []graph.ID
	head  int
	marks []mark // by ID
	// added and taken are the total numbers of queued and taken nodes.
	added, taken uint64
	// later lists the deferred nodes in order. wakeOne leaves nodes in it for a while that it has
	// woken. sleeping is the number of nodes that are still deferred.
	later    []graph.ID
	sleeping int
	// failures is the number of consecutive deferrals of each node.
	failures map[graph.ID]int
}

func (q *queue) mark(id graph.ID) *mark {
	if int(id) >= len(q.marks) {
		q.marks = append(q.marks, make([]mark, int(id)+1-len(q.marks)+len(q.marks)/2)...)
	}
	return &q.marks[id]
}

// add queues a node. A node in flight is queued when it is settled.
func (q *queue) add(id graph.ID) {
	m := q.mark(id)
	switch {
	case *m&queued != 0:
	case *m&inFlight != 0:
		*m |= dirty
	default:
		*m |= queued
		q.items = append(q.items, id)
		q.added++
	}
}

func (q *queue) len() int { return len(q.items) - q.head }

// take removes and returns the i-th waiting node. Index 0 is the oldest.
func (q *queue) take(i int) graph.ID {
	id := q.items[q.head+i]
	copy(q.items[q.head+1:q.head+i+1], q.items[q.head:q.head+i])
	q.head++
	q.taken++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	} else if q.head > 4096 && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		q.items, q.head = q.items[:n], 0
	}
	m := q.mark(id)
	*m = *m&^queued | inFlight
	return id
}

// settle ends the flight of a node, and queues it again if it was added meanwhile.
func (q *queue) settle(id graph.ID) {
	m := q.mark(id)
	again := *m&dirty != 0
	*m &^= inFlight | dirty
	if again {
		q.add(id)
	}
}

// postpone defers a node until it is woken.
func (q *queue) postpone(id graph.ID) {
	m := q.mark(id)
	if *m&deferred != 0 {
		return
	}
	q.sleeping++
	if *m&listed == 0 {
		q.later = append(q.later, id)
	}
	*m |= deferred | listed
}

// wakeOne makes one node ready if it is deferred. The node stays in later until most entries of the
// list are woken; then they are removed and sweep is called for each.
func (q *queue) wakeOne(id graph.ID, sweep func(graph.ID)) {
	m := q.mark(id)
	if *m&deferred == 0 {
		return
	}
	*m &^= deferred
	q.sleeping--
	q.add(id)
	if len(q.later) < 2*q.sleeping+1024 {
		return
	}
	kept := q.later[:0]
	for _, id := range q.later {
		if *q.mark(id)&deferred != 0 {
			kept = append(kept, id)
			continue
		}
		*q.mark(id) &^= listed
		sweep(id)
	}
	q.later = kept
}

// failed counts a failure and returns the number of consecutive ones.
func (q *queue) failed(id graph.ID) int {
	if q.failures == nil {
		q.failures = map[graph.ID]int{}
	}
	q.failures[id]++
	return q.failures[id]
}

// wake makes the matching deferred nodes ready.
func (q *queue) wake(match func(graph.ID) bool) {
	kept := q.later[:0]
	for _, id := range q.later {
		m := q.mark(id)
		switch {
		case *m&deferred == 0:
			*m &^= listed
		case !match(id):
			kept = append(kept, id)
		default:
			*m &^= deferred | listed
			q.sleeping--
			q.add(id)
		}
	}
	q.later = kept
}

// holds reports whether the queue still needs the ID of a node, in any state.
func (q *queue) holds(id graph.ID) bool { return *q.mark(id) != 0 }

// sleeps reports whether a node is deferred.
func (q *queue) sleeps(id graph.ID) bool { return *q.mark(id)&deferred != 0 }

// sleepers returns the deferred nodes in order.
func (q *queue) sleepers() []graph.ID {
	if len(q.later) == q.sleeping {
		return q.later
	}
	ids := make([]graph.ID, 0, q.sleeping)
	for _, id := range q.later {
		if *q.mark(id)&deferred != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// waiting returns the queued nodes, oldest first.
func (q *queue) waiting() []graph.ID { return q.items[q.head:] }

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
	// valid is the last due time of each attempt. Older entries of the heap are void: an attempt
	// that an event queued before its alarm, and that was deferred again, has several.
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
