package history

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/audit"
)

const (
	// together is how many seconds may lie between two deletes of one command.
	together = 5
	// adjacent is how many revisions may, where there is no clock.
	adjacent = 50
)

// request notes that somebody has asked for a loss, and returns which request that is. What
// one command deletes is one request: objects of one kind and namespace, one after the other.
//
// The audit log knows which were sent by one client, and what one request for a collection took.
func (t *tracer) request(loss int, revision uint64, policy Policy, certain bool, sent *audit.Request) int {
	for k := range slices.Backward(t.requests) {
		r := &t.requests[k]
		latest := r.Losses[len(r.Losses)-1]
		same := sent != nil && slices.Contains(r.Sent, sent)
		one := same || k == len(t.requests)-1 && t.alike(latest, loss) && t.soon(t.losses[latest].Asked, revision) && r.sentBy(sent)
		if one && r.Policy == policy && r.Certain == certain && !slices.Contains(r.Losses, loss) {
			r.Losses = append(r.Losses, loss)
			if sent != nil && !same {
				r.Sent = append(r.Sent, sent)
			}
			return k
		}
		if sent == nil || sent.Verb != audit.Collection {
			break
		}
	}
	r := Request{Losses: []int{loss}, Policy: policy, At: t.past.Clock.At(revision), Certain: certain}
	if sent != nil {
		r.Sent, r.At.Time = []*audit.Request{sent}, sent.Received/second
	}
	t.requests = append(t.requests, r)
	return len(t.requests) - 1
}

// sentBy reports whether the client that sent a request has sent a further one, and asked for
// the same.
func (r *Request) sentBy(sent *audit.Request) bool {
	if sent == nil || len(r.Sent) == 0 {
		return sent == nil && len(r.Sent) == 0
	}
	was := r.Sent[0]
	return was.Verb == sent.Verb && was.Equal(&sent.Sender) && was.Options.Equal(sent.Options)
}

// alike reports whether two losses are of one kind and namespace.
func (t *tracer) alike(a, b int) bool {
	x, y := placeOf(t.losses[a].Object.Ref), placeOf(t.losses[b].Object.Ref)
	x.name, y.name = "", ""
	return x == y
}

func (t *tracer) soon(a, b uint64) bool {
	x, y := t.past.Clock.Earliest(a).Time, t.past.Clock.Earliest(b).Time
	if x == 0 || y == 0 {
		return b-a <= adjacent
	}
	return y-x <= together
}
