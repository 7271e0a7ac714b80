package history

import "slices"

const (
	// together is how many seconds may lie between two deletes of one command.
	together = 5
	// adjacent is how many revisions may, where there is no clock.
	adjacent = 50
)

// request notes that somebody has asked for a loss, and returns which request that is. What
// one command deletes is one request: objects of one kind and namespace, one after the other.
func (t *tracer) request(loss int, revision uint64, policy Policy, certain bool) int {
	if k := len(t.requests) - 1; k >= 0 {
		r := &t.requests[k]
		latest := r.Losses[len(r.Losses)-1]
		if r.Policy == policy && r.Certain == certain && t.alike(latest, loss) && !slices.Contains(r.Losses, loss) && t.soon(t.losses[latest].Asked, revision) {
			r.Losses = append(r.Losses, loss)
			return k
		}
	}
	t.requests = append(t.requests, Request{Losses: []int{loss}, Policy: policy, At: t.past.Clock.At(revision), Certain: certain})
	return len(t.requests) - 1
}

// alike reports whether two losses are of one kind and namespace.
func (t *tracer) alike(a, b int) bool {
	x, y := placeOf(t.losses[a].Object.Ref), placeOf(t.losses[b].Object.Ref)
	x.name, y.name = "", ""
	return x == y
}

func (t *tracer) soon(a, b uint64) bool {
	x, y := t.past.Clock.At(a).Time, t.past.Clock.At(b).Time
	if x == 0 || y == 0 {
		return b-a <= adjacent
	}
	return y-x <= together
}
