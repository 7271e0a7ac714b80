package engine

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
)

func TestQueueContract(t *testing.T) {
	var q queue
	q.add(1)
	q.add(2)
	q.add(1) // waits already: nothing changes, not even its position
	if got := q.waiting(); !slices.Equal(got, []graph.ID{1, 2}) {
		t.Fatalf("waiting: %v", got)
	}
	if id := q.take(0); id != 1 {
		t.Fatalf("took %d, want the oldest", id)
	}
	q.add(1) // in flight: not taken a second time
	if got := q.waiting(); !slices.Equal(got, []graph.ID{2}) {
		t.Fatalf("waiting while 1 is in flight: %v", got)
	}
	q.settle(1)
	if got := q.waiting(); !slices.Equal(got, []graph.ID{2, 1}) {
		t.Fatalf("waiting after 1 was settled: %v", got)
	}
}

// A deferred node that an event queues is attempted at once and stays deferred.
func TestQueueDeferredAndQueued(t *testing.T) {
	var q queue
	q.postpone(7)
	q.postpone(7)
	q.add(7)
	if len(q.later) != 1 || q.len() != 1 {
		t.Fatalf("later %v, waiting %v", q.later, q.waiting())
	}
	q.wake(func(graph.ID) bool { return true })
	if len(q.later) != 0 || q.len() != 1 {
		t.Fatalf("after waking: later %v, waiting %v", q.later, q.waiting())
	}
	q.take(0)
	if !q.holds(7) {
		t.Error("7 is in flight and not held")
	}
	q.settle(7)
	if q.holds(7) {
		t.Error("7 is settled and still held")
	}
}

// Memory of taken nodes is reused: the list doesn't grow with the throughput.
func TestQueueForgetsWhatWasTaken(t *testing.T) {
	var q queue
	q.add(1)
	for i := range 100_000 {
		q.add(graph.ID(i%50_000 + 2))
		q.settle(q.take(0))
	}
	if q.len() != 1 || len(q.items) > 20_000 {
		t.Errorf("%d wait in a list of %d", q.len(), len(q.items))
	}
}

// queueModel is the contract of a work queue as a list and three sets.
type queueModel struct {
	queue    queue
	waiting  []graph.ID
	inFlight []graph.ID
	dirty    map[graph.ID]bool
	later    []graph.ID
}

func (m *queueModel) add(id graph.ID) {
	switch {
	case slices.Contains(m.waiting, id):
	case slices.Contains(m.inFlight, id):
		m.dirty[id] = true
	default:
		m.waiting = append(m.waiting, id)
	}
}

func drawID(t *rapid.T) graph.ID { return graph.ID(rapid.IntRange(1, 6).Draw(t, "id")) }

func TestQueueIsAsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &queueModel{dirty: map[graph.ID]bool{}}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if !slices.Equal(m.queue.waiting(), m.waiting) || m.queue.len() != len(m.waiting) || !slices.Equal(m.queue.later, m.later) {
					t.Fatalf("waiting %v, want %v; later %v, want %v", m.queue.waiting(), m.waiting, m.queue.later, m.later)
				}
				for id := graph.ID(1); id <= 6; id++ {
					want := slices.Contains(m.waiting, id) || slices.Contains(m.inFlight, id) || slices.Contains(m.later, id)
					if m.queue.holds(id) != want {
						t.Fatalf("holds(%d) = %v", id, !want)
					}
				}
			},
			"add": func(t *rapid.T) {
				id := drawID(t)
				m.queue.add(id)
				m.add(id)
			},
			"take": func(t *rapid.T) {
				if len(m.waiting) == 0 {
					t.Skip("nothing waits")
				}
				i := rapid.IntRange(0, len(m.waiting)-1).Draw(t, "i")
				id := m.waiting[i]
				m.waiting = slices.Delete(slices.Clone(m.waiting), i, i+1)
				m.inFlight = append(m.inFlight, id)
				if got := m.queue.take(i); got != id {
					t.Fatalf("take(%d) = %d, want %d", i, got, id)
				}
			},
			"settle": func(t *rapid.T) {
				if len(m.inFlight) == 0 {
					t.Skip("nothing is in flight")
				}
				i := rapid.IntRange(0, len(m.inFlight)-1).Draw(t, "i")
				id := m.inFlight[i]
				m.inFlight = slices.Delete(m.inFlight, i, i+1)
				if rapid.Bool().Draw(t, "deferred") {
					m.queue.postpone(id)
					if !slices.Contains(m.later, id) {
						m.later = append(m.later, id)
					}
				}
				m.queue.settle(id)
				if m.dirty[id] {
					delete(m.dirty, id)
					m.add(id)
				}
			},
			"wake": func(t *rapid.T) {
				even := rapid.Bool().Draw(t, "even")
				match := func(id graph.ID) bool { return even == (id%2 == 0) }
				m.queue.wake(match)
				woken := slices.DeleteFunc(slices.Clone(m.later), func(id graph.ID) bool { return !match(id) })
				m.later = slices.DeleteFunc(slices.Clone(m.later), match)
				for _, id := range woken {
					m.add(id)
				}
			},
		})
	})
}
