package engine

import "github.com/kubectl-gc/kubectl-gc/internal/graph"

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
	// later lists the deferred nodes in order, and some that were woken one by one. sleeping is the
	// number of those that are still deferred.
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

func (q *queue) waiting() []graph.ID { return q.items[q.head:] }
