package engine

import "github.com/kubectl-gc/kubectl-gc/internal/graph"

// Work is what an attempt is about.
type Work uint8

const (
	// DeleteWork: see whether the object has to go.
	DeleteWork Work = iota
	// OrphanWork: release the dependents of the object.
	OrphanWork
)

// String is the word used in traces.
func (w Work) String() string {
	if w == OrphanWork {
		return "orphan"
	}
	return "delete"
}

// mark is where a node stands in one queue.
type mark uint8

const (
	queued   mark = 1 << iota // waits to be handed out
	inFlight                  // handed out, not settled
	dirty                     // queued again while in flight
	deferred                  // waits to be woken
	listed                    // stands in the list of the deferred, woken or not
)

// queue is a first-in first-out set of nodes, with the contract of client-go's
// workqueue: adding what waits already changes nothing, what is in flight is not
// handed out twice at the same time, and what was added meanwhile comes again
// after it was settled.
type queue struct {
	items []graph.ID
	head  int
	marks []mark // by ID
	// added and taken count what was ever queued and handed out.
	added, taken uint64
	// later lists the deferred nodes in their order, and some that were woken one
	// by one: sleeping of them still wait.
	later    []graph.ID
	sleeping int
	// failures counts how often in a row the attempt of a node was deferred.
	failures map[graph.ID]int
}

func (q *queue) mark(id graph.ID) *mark {
	if int(id) >= len(q.marks) {
		q.marks = append(q.marks, make([]mark, int(id)+1-len(q.marks)+len(q.marks)/2)...)
	}
	return &q.marks[id]
}

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

// take hands out the i-th of the waiting nodes; 0 is the oldest.
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

func (q *queue) settle(id graph.ID) {
	m := q.mark(id)
	again := *m&dirty != 0
	*m &^= inFlight | dirty
	if again {
		q.add(id)
	}
}

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

// wakeOne makes one node ready if it is deferred. It leaves the node in the list,
// which is swept when most of it is of that kind: sweep tells whom it no longer
// holds for that reason.
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

// failed counts a failure, and returns how many there were in a row.
func (q *queue) failed(id graph.ID) int {
	if q.failures == nil {
		q.failures = map[graph.ID]int{}
	}
	q.failures[id]++
	return q.failures[id]
}

// wake makes the deferred nodes that match ready.
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

func (q *queue) holds(id graph.ID) bool { return *q.mark(id) != 0 }

// sleeps reports whether a node is deferred.
func (q *queue) sleeps(id graph.ID) bool { return *q.mark(id)&deferred != 0 }

// sleepers lists the deferred nodes in their order.
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

func (q *queue) waiting() []graph.ID { return q.items[q.head:] }
