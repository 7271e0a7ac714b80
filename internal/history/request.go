package history

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/audit"
)

const (
	// together is the longest time, in seconds, between two deletes of one command.
	together = 5
	// adjacent is the longest distance in revisions, if there is no clock.
	adjacent = 50
)

// request records a client's delete for a loss, and returns the index of the request. Deletes of
// one command are one request: objects of one kind and namespace, one after the other.
//
// The audit log shows which deletes one client sent, and what a request for a collection deleted.
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

// sentBy reports whether sent comes from the client of this request and has the same verb and
// options.
func (r *Request) sentBy(sent *audit.Request) bool {
	if sent == nil || len(r.Sent) == 0 {
		return sent == nil && len(r.Sent) == 0
	}
	was := r.Sent[0]
	return was.Verb == sent.Verb && was.Equal(&sent.Sender) && was.Options.Equal(sent.Options)
}

// alike reports whether two losses are of one kind and namespace.
func (t *tracer) alike(a, b int) bool {
	x, y := t.losses[a].Object.Ref.Coordinates(), t.losses[b].Object.Ref.Coordinates()
	x.Name, y.Name = "", ""
	return x == y
}

func (t *tracer) soon(a, b uint64) bool {
	x, y := t.past.Clock.Earliest(a).Time, t.past.Clock.Earliest(b).Time
	if x == 0 || y == 0 {
		return b-a <= adjacent
	}
	return y-x <= together
}
