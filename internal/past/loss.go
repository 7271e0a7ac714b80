package past

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Propagation is the propagation policy of a delete, as far as its finalizers show it.
type Propagation uint8

// The observable policies.
const (
	// Background sets no finalizer: the object is removed at once, or when its finalizers are
	// removed.
	Background Propagation = iota
	// Foreground has set the finalizer foregroundDeletion: dependents are deleted first.
	Foreground
	// Orphan has set the finalizer orphan: dependents are kept.
	Orphan
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
	// Asked is the revision where its deletion began, Gone the one of its removal. They are
	// equal if nothing delayed it. If they are not known exactly, they are the earliest and the
	// latest possible. Gone is 0 for an object that is still being deleted, and for one that lost
	// an owner.
	Asked, Gone uint64
	Policy      Propagation
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

// Cause is the cause of a loss.
type Cause struct {
	Code Code
	// By is the object that caused it: the owner, the namespace, the CRD.
	By object.Ref
	// Request is the index of the request that began it; -1 if none of the requests did.
	Request int
}

// Code is a kind of cause.
type Code string

// Request is a delete by a client.
type Request struct {
	// Losses are the indexes of the deleted objects: one object, or several of one kind that one
	// command deleted.
	Losses []int
	Policy Propagation
	// At is the moment of the first delete.
	At Moment
	// Took counts the losses that it explains, including its own.
	Took int
	// Certain is true if no other cause is possible. Otherwise a controller may have done it.
	Certain bool
	// Sent are the requests in the audit log, all of one client and with the same options. It is
	// nil if the log has none.
	Sent []*AuditedRequest
}

// The causes that are derived from the state just before a deletion began. By is the object that
// the description mentions, if any.
const (
	// Requested: a client that is not a known controller has sent a DELETE for the object.
	Requested Code = "Requested"

	// OwnerGone: the garbage collector deleted it because its last owner was gone.
	OwnerGone Code = "OwnerGone"
	// OwnerReplaced: the garbage collector deleted it because the object with the name of its owner
	// has another uid.
	OwnerReplaced Code = "OwnerReplaced"
	// OwnerNamespaceMismatch: the garbage collector deleted it because it looks up an owner in the
	// namespace of the dependent, and the object with that uid is in another one.
	OwnerNamespaceMismatch Code = "OwnerNamespaceMismatch"
	// OwnerWaits: the garbage collector deleted it because its owner is deleted in the foreground
	// and waits for its dependents.
	OwnerWaits Code = "OwnerWaits"
	// OwnerOrphans: the garbage collector removed the reference to an owner that is deleted with
	// the policy Orphan.
	OwnerOrphans Code = "OwnerOrphans"
	// ReferenceRemoved: the garbage collector removed the reference to an owner that is gone
	// or waits for its dependents; another owner keeps the object.
	ReferenceRemoved Code = "ReferenceRemoved"

	// NamespaceDeleted: the namespace controller deleted it with its namespace.
	NamespaceDeleted Code = "NamespaceDeleted"
	// DefinitionDeleted: the API server deleted it with its CustomResourceDefinition.
	DefinitionDeleted Code = "DefinitionDeleted"
	// AccountGone: the tokens controller deleted the token of a ServiceAccount that is gone.
	AccountGone Code = "AccountGone"
	// ServiceGone: the Endpoints or the IPAddress of a Service that is gone.
	ServiceGone Code = "ServiceGone"
	// EndpointsGone: an EndpointSlice that mirrored Endpoints that are gone.
	EndpointsGone Code = "EndpointsGone"
	// ClaimGone: a PersistentVolume with the reclaim policy Delete whose
	// PersistentVolumeClaim is gone.
	ClaimGone Code = "ClaimGone"
	// VersionGone: an APIService of a version that no CustomResourceDefinition serves any more.
	VersionGone Code = "VersionGone"
	// NodeGone: the pod garbage collector deleted a pod whose node is gone.
	NodeGone Code = "NodeGone"

	// Controller: its controller exists and may have deleted it, and so may another client.
	Controller Code = "Controller"
	// ControllerChanged: its controller may have deleted it, because the controller's spec was
	// changed shortly before, for example scaled or updated.
	ControllerChanged Code = "ControllerChanged"
	// Evicted: the pod was on a node, and may have been evicted or preempted.
	Evicted Code = "Evicted"
	// CleanedUp: Kubernetes itself deletes objects of this kind when they are finished or expired.
	CleanedUp Code = "CleanedUp"

	// ByKubernetes: the audit log has a DELETE of a Kubernetes component, for a reason that the
	// history does not show.
	ByKubernetes Code = "ByKubernetes"

	// OwnerUnknown: an owner was not seen, so the garbage collector may have deleted it.
	OwnerUnknown Code = "OwnerUnknown"
	// NamespaceUnknown: its namespace was not seen, so the namespace controller may have deleted
	// it.
	NamespaceUnknown Code = "NamespaceUnknown"
	// DefinitionUnknown: its CustomResourceDefinition was not seen, so the API server may have
	// deleted it with the CRD.
	DefinitionUnknown Code = "DefinitionUnknown"
	// KindUnknown: no resource of its kind is served, so it is unknown what deletes such objects.
	KindUnknown Code = "KindUnknown"

	// Before: its deletion began before the history does.
	Before Code = "Before"
	// Unseen: its earlier state, or the revision of its deletion, is unknown.
	Unseen Code = "Unseen"
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
func (t *tracer) request(loss int, revision uint64, policy Propagation, certain bool, sent *AuditedRequest) int {
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
		if sent == nil || sent.Verb != DeleteCollection {
			break
		}
	}
	r := Request{Losses: []int{loss}, Policy: policy, At: t.past.Clock.At(revision), Certain: certain}
	if sent != nil {
		r.Sent, r.At.Time = []*AuditedRequest{sent}, sent.Received/second
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

// With returns the indexes of the chosen losses and of all that they caused, directly or not, in
// the order of the account.
func (a *Account) With(chosen func(*Loss) bool) []int {
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

// Began returns the revision of the request that caused a loss. If no request did, it returns the
// revision where its own deletion began.
func (a *Account) Began(l *Loss) uint64 {
	if r := l.Cause.Request; r >= 0 && r < len(a.Requests) {
		return min(l.Asked, a.Requests[r].At.Revision)
	}
	return l.Asked
}
