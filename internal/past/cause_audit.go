package past

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// hear lets a request in the audit log decide between the causes of e. Only causes that match its
// sender stay. If none does, another certain candidate may match: its request was the fastest. If
// none matches at all, the sender's own cause counts, and contradicts is the refuted one. Two kinds
// of requests may have come too late and refute nothing: one for a collection, and one without a
// matching cause for an object that was not removed at once.
func (t *tracer) hear(e explanation, o *object.Object, c *Change, left trace) explanation {
	r, match := t.sender(o, c, left)
	if r == nil {
		return e
	}
	codes, other := codesOf(r)
	var said, rest []Cause
	for _, x := range append([]Cause{e.cause}, e.or...) {
		switch {
		case slices.Contains(codes, x.Code):
			said = append(said, x)
		case r.Verb == Eviction && x.Code == reason.Requested:
			// The history cannot distinguish a delete from an eviction.
		default:
			rest = append(rest, x)
		}
	}
	heard := explanation{sent: r, match: match}
	for _, x := range e.would {
		if slices.Contains(codes, x.Code) && len(said) == 0 {
			said = append(said, x.Cause)
		}
	}
	switch {
	case match == BySelector && len(said) == 0:
		return e
	case match == BySelector:
	case len(said) == 0 && c.Type != object.Deleted:
		// An object that is being deleted can be deleted again in the same second.
		said = []Cause{{Code: other, Request: -1}}
	case len(said) == 0:
		said, rest = []Cause{{Code: other, Request: -1}}, nil
		if len(e.or) == 0 && (r.Verb != Eviction || e.cause.Code != reason.Requested) {
			heard.contradicts = &e.cause
		}
	default:
		rest = nil
	}
	heard.cause, heard.or = said[0], slices.Concat(said[1:], rest)
	heard.asked = heard.cause.Code == reason.Requested || e.asked && len(rest) > 0
	if heard.cause.Request < 0 && !heard.asked {
		heard.cause.Request, _ = t.began(heard.cause.By)
	}
	return heard
}

// codesOf returns the causes that match the sender of a request, and the cause to report if the
// history has none of them.
func codesOf(r *AuditedRequest) (codes []reason.Code, other reason.Code) {
	name, ok := r.Controller()
	switch {
	case r.Verb == Eviction:
		return []reason.Code{reason.Evicted}, reason.Evicted
	case !ok:
		return []reason.Code{reason.Requested}, reason.Requested
	case name == GarbageCollector:
		return []reason.Code{reason.OwnerWaits, reason.OwnerGone, reason.OwnerReplaced, reason.OwnerNamespaceMismatch, reason.OwnerUnknown}, reason.ByKubernetes
	case name == NamespaceController:
		return []reason.Code{reason.NamespaceDeleted, reason.NamespaceUnknown}, reason.ByKubernetes
	case slices.Contains(workloads, name):
		return []reason.Code{reason.ControllerChanged, reason.Controller}, reason.ByKubernetes
	default:
		return []reason.Code{
			reason.Controller, reason.ControllerChanged, reason.Evicted, reason.CleanedUp, reason.NodeGone, reason.AccountGone,
			reason.ServiceGone, reason.EndpointsGone, reason.ClaimGone, reason.VersionGone, reason.KindUnknown,
		}, reason.ByKubernetes
	}
}

// workloads are the controllers that delete only objects that they control.
var workloads = []string{
	"replicaset-controller", "replication-controller", "deployment-controller", "statefulset-controller", "daemon-set-controller",
	"job-controller", "cronjob-controller",
}

// again returns the client request in the audit log that deleted an object again with another
// policy while it was being deleted. It returns nil if there is none, or several of different
// senders.
func (t *tracer) again(o *object.Object, revision uint64, policy metav1.DeletionPropagation) *AuditedRequest {
	served, err := t.world.resources.For(o.APIVersion, o.Kind)
	if err != nil {
		return nil
	}
	var found *AuditedRequest
	for _, r := range t.senders.of[target{served.GroupResource(), o.Namespace, o.Name}] {
		if r.Options == nil || r.Options.Policy != policy || r.UIDs != nil && !slices.Contains(r.UIDs, o.UID) || !t.near(r, revision) {
			continue
		}
		if _, ok := r.Controller(); ok || found != nil && !found.Equal(&r.Sender) {
			return nil
		}
		found = r
	}
	return found
}

// policySaid returns the policy that a request named, or else the observed one.
func policySaid(r *AuditedRequest, seen metav1.DeletionPropagation) metav1.DeletionPropagation {
	if r.Options != nil {
		switch named := r.Options.Policy; named {
		case background, foreground, orphan:
			return named
		}
	}
	return seen
}

// Match is how a request in an audit log was matched to a loss.
type Match string

// The matches.
const (
	// ByUID and ByName mean a request for the object itself, with its uid or name, when its
	// deletion began.
	ByUID  Match = "UID"
	ByName Match = "Name"
	// BySelector means a request for a collection with the object. It may have come just after
	// another request.
	BySelector Match = "Selector"
)

const (
	second = 1_000_000 // in microseconds, the unit of a log
	// skew is how many seconds clocks may differ.
	skew = 5
)

// Logged returns the window of time in an audit log that may have requests of a past.
func (p *Record) Logged() LogWindow {
	var w LogWindow
	if p.From.Time != 0 {
		w.From = (p.From.Time - skew) * second
	}
	if p.To.Time != 0 {
		// The last requests may have come after the last tick of the clock.
		w.To = (p.To.Time + skew + mostApart) * second
	}
	return w
}

// timed returns the past with a clock that includes the times of audit log requests with an exact
// match.
func (t *tracer) timed() *Record {
	if t.past.Log == nil {
		return t.past
	}
	ticks := slices.Clone(t.past.Clock.Ticks())
	for i := range t.losses {
		if l := &t.losses[i]; l.Sent != nil && l.Match != BySelector {
			ticks = append(ticks, Moment{l.Asked, l.Sent.Received / second})
		}
	}
	record := *t.past
	record.Clock = NewClock(ticks)
	return &record
}

// senders has the requests of an audit log by their target.
type senders struct {
	of map[target][]*AuditedRequest
	// shared are coordinates that several objects had, one after the other.
	shared map[object.Coordinates]bool
}

// target is an object, or a collection if it has no name.
type target struct {
	schema.GroupResource
	namespace, name string
}

func sendersIn(p *Record, changes []Change) senders {
	s := senders{map[target][]*AuditedRequest{}, map[object.Coordinates]bool{}}
	if p.Log == nil {
		return s
	}
	for i := range p.Log.Requests {
		r := &p.Log.Requests[i]
		at := target{r.Resource, r.Namespace, r.Name}
		s.of[at] = append(s.of[at], r)
	}
	uids := map[object.Coordinates]types.UID{}
	for i := range changes {
		o := changes[i].Object
		at := o.Ref.Coordinates()
		if uid, ok := uids[at]; ok && uid != o.UID {
			s.shared[at] = true
		}
		uids[at] = o.UID
	}
	return s
}

// sender returns the request in the audit log that began the deletion of an object with a change.
// It returns nil if the log has none, or several possible ones.
func (t *tracer) sender(o *object.Object, c *Change, left trace) (*AuditedRequest, Match) {
	served, err := t.world.resources.For(o.APIVersion, o.Kind)
	if err != nil || len(t.senders.of) == 0 {
		return nil, ""
	}
	at := target{served.GroupResource(), o.Namespace, o.Name}
	var exact, rough []*AuditedRequest
	for _, name := range []string{o.Name, ""} {
		at.name = name
		for _, r := range t.senders.of[at] {
			switch {
			case !t.fits(r, o, c, left):
			case slices.Contains(r.UIDs, o.UID), r.Verb != DeleteCollection && !t.senders.shared[o.Ref.Coordinates()]:
				exact = append(exact, r)
			case r.Verb == DeleteCollection && selects(r, o):
				rough = append(rough, r)
			}
		}
	}
	r := firstSent(exact)
	match := ByName
	switch {
	case len(exact) > 0 && c.Type == object.Deleted:
		// It was removed at once, so no request can follow. But a dry run may have come before.
		r = lastSent(exact)
	case len(exact) == 0:
		r, match = oneSender(rough), BySelector
	}
	if r != nil && slices.Contains(r.UIDs, o.UID) {
		match = ByUID
	}
	return r, match
}

// fits reports whether a request may have begun the deletion of an object.
func (t *tracer) fits(r *AuditedRequest, o *object.Object, c *Change, left trace) bool {
	switch {
	case r.UIDs != nil && !slices.Contains(r.UIDs, o.UID), r.Removed && c.Type != object.Deleted, !t.near(r, c.Revision):
		return false
	case c.Object.BeingDeleted():
		// The deletionTimestamp has the time by the same clock.
		if at := c.Object.Deleted(); at < r.Received/second || at > r.Answered/second {
			return false
		}
	}
	return r.Options == nil || t.world.guessed[identityOf(o.Ref)] || t.leaves(o, left, r.Options.Policy)
}

// near reports whether a request may have been in progress at a revision.
func (t *tracer) near(r *AuditedRequest, revision uint64) bool {
	from, to := t.past.Clock.At(revision).Time, t.past.Clock.Until(revision)
	return r.Answered >= (from-skew)*second && (to == 0 || r.Received <= (to+1+skew)*second)
}

// firstSent returns the first of several requests; nil if another sender's may have been first.
func firstSent(list []*AuditedRequest) *AuditedRequest {
	if len(list) == 0 {
		return nil
	}
	r := slices.MinFunc(list, func(a, b *AuditedRequest) int { return int(a.Received - b.Received) })
	for _, other := range list {
		if !other.Equal(&r.Sender) && other.Received <= r.Answered {
			return nil
		}
	}
	return r
}

// lastSent returns the last of one or more requests; nil if another sender's may have been last.
func lastSent(list []*AuditedRequest) *AuditedRequest {
	r := slices.MaxFunc(list, func(a, b *AuditedRequest) int { return int(a.Answered - b.Answered) })
	for _, other := range list {
		if !other.Equal(&r.Sender) && other.Answered >= r.Received {
			return nil
		}
	}
	return r
}

// oneSender returns the first of several requests of one client; nil if there are several clients.
func oneSender(list []*AuditedRequest) *AuditedRequest {
	for _, r := range list {
		if !r.Equal(&list[0].Sender) {
			return nil
		}
	}
	return firstSent(list)
}

// selects reports whether an object was in a collection, as far as its metadata shows.
func selects(r *AuditedRequest, o *object.Object) bool {
	known := fields.Set{"metadata.name": o.Name, "metadata.namespace": o.Namespace}
	for _, f := range r.Fields.Requirements() {
		if !known.Has(f.Field) {
			return false
		}
	}
	return r.UIDs == nil && r.Labels.Matches(o.Labels) && r.Fields.Matches(known)
}
