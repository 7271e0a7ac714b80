package past

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Account is the attribution of all losses in a past.
type Account struct {
	Past *Record
	// Losses are the objects that were deleted, are being deleted, or lost an owner, ordered by
	// the beginning of the loss.
	Losses []Loss
	// Requests are the deletes that explain the losses. They are as few as possible, in order.
	Requests []Request
}

// Loss is an object that was deleted, is being deleted, or lost an owner.
type Loss struct {
	// Object is the object as it was before the loss.
	Object *object.Object
	// Began is the revision at which its deletion began, Gone the one of its removal. They are
	// equal if nothing delayed it. If they are not known exactly, they are the earliest and the
	// latest possible. Gone is 0 for an object that is still being deleted, and for one that lost
	// an owner.
	Began, Gone uint64
	Policy      metav1.DeletionPropagation // as far as the finalizers show it
	// Orphaned is true if the object still exists and lost its references to Owners.
	Orphaned bool
	Owners   []object.Ref
	// Cause is the most likely cause.
	Cause Cause
	// Or are the other possible causes.
	Or []Cause
	// Sent is the request in the audit log that began the deletion, and Match how it was matched.
	// It is nil if the log has none.
	Sent  *AuditedRequest
	Match Match
	// Contradicts is the only cause that the history without the log allows, if the log disagrees.
	Contradicts *Cause
}

// Cause is the cause of a loss, derived from the state just before it.
type Cause struct {
	Code reason.Code // of reason.Lost
	// By is the object that caused it: the owner, the namespace, the CRD.
	By object.Ref
	// Request is the index of the request that began it; -1 if none of the requests did.
	Request int
}

// Request is a delete by a client.
type Request struct {
	// Losses are the indexes of the deleted objects: one object, or several of one kind that one
	// command deleted.
	Losses []int
	Policy metav1.DeletionPropagation // like that of its losses
	// At is the moment of the first delete.
	At Moment
	// Explains counts the losses that it explains, including its own.
	Explains int
	// Certain is true if no other cause is possible. Otherwise a controller may have done it.
	Certain bool
	// Sent are the requests in the audit log, all of one client and with the same options. It is
	// nil if the log has none.
	Sent []*AuditedRequest
}

const (
	// sameCommandSeconds is the longest time, in seconds, between two deletes of one command.
	sameCommandSeconds = 5
	// sameCommandRevisions is the longest distance in revisions, if there is no clock.
	sameCommandRevisions = 50
)

// addRequest records a client's delete for a loss, and returns the index of the request. Deletes of
// one command are one request: objects of one kind and namespace, one after the other.
//
// The audit log shows which deletes one client sent, and what a request for a collection deleted.
func (t *tracer) addRequest(loss int, revision uint64, policy metav1.DeletionPropagation, certain bool, sent *AuditedRequest) int {
	for k := range slices.Backward(t.requests) {
		r := &t.requests[k]
		latest := r.Losses[len(r.Losses)-1]
		same := sent != nil && slices.Contains(r.Sent, sent)
		one := same || k == len(t.requests)-1 && t.sameKindAndNamespace(latest, loss) && t.isShortlyAfter(t.losses[latest].Began, revision) && r.sentBy(sent)
		if one && r.Policy == policy && r.Certain == certain && !slices.Contains(r.Losses, loss) {
			r.Losses = append(r.Losses, loss)
			if sent != nil && !same {
				r.Sent = append(r.Sent, sent)
			}
			return k
		}
		if sent == nil || sent.Verb != DeleteCollection {
			break
		}
	}
	r := Request{Losses: []int{loss}, Policy: policy, At: t.past.Clock.At(revision), Certain: certain}
	if sent != nil {
		r.Sent, r.At.Time = []*AuditedRequest{sent}, sent.Received/microsPerSecond
	}
	t.requests = append(t.requests, r)
	return len(t.requests) - 1
}

// sentBy reports whether sent comes from the client of this request and has the same verb and
// options.
func (r *Request) sentBy(sent *AuditedRequest) bool {
	if sent == nil || len(r.Sent) == 0 {
		return sent == nil && len(r.Sent) == 0
	}
	was := r.Sent[0]
	return was.Verb == sent.Verb && was.Equal(&sent.Sender) && was.Options.Equal(sent.Options)
}

// sameKindAndNamespace reports whether two losses are of one kind and namespace.
func (t *tracer) sameKindAndNamespace(a, b int) bool {
	x, y := t.losses[a].Object.Ref.Coordinates(), t.losses[b].Object.Ref.Coordinates()
	x.Name, y.Name = "", ""
	return x == y
}

func (t *tracer) isShortlyAfter(a, b uint64) bool {
	x, y := t.past.Clock.Earliest(a).Time, t.past.Clock.Earliest(b).Time
	if x == 0 || y == 0 {
		return b-a <= sameCommandRevisions
	}
	return y-x <= sameCommandSeconds
}

// WithCaused returns the indexes of the chosen losses and of all that they caused, directly or not,
// in the order of the account.
func (a *Account) WithCaused(chosen func(*Loss) bool) []int {
	taken := make(map[object.Ref]bool, len(a.Losses))
	in := make([]bool, len(a.Losses))
	for more := true; more; { // a consequence may have begun before its cause
		more = false
		for i := range a.Losses {
			l := &a.Losses[i]
			if in[i] || !chosen(l) && !taken[l.Cause.By] {
				continue
			}
			in[i], more = true, true
			taken[l.Object.Ref] = true
		}
	}
	var with []int
	for i := range in {
		if in[i] {
			with = append(with, i)
		}
	}
	return with
}

// RequestRevision returns the revision of the request that caused a loss. If no request did, it
// returns the revision where its own deletion began.
func (a *Account) RequestRevision(l *Loss) uint64 {
	if r := l.Cause.Request; r >= 0 && r < len(a.Requests) {
		return min(l.Began, a.Requests[r].At.Revision)
	}
	return l.Began
}
