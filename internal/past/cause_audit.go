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

// applyAuditLog lets a request in the audit log decide between the causes of e. Only causes that
// match its sender stay. If none does, another certain candidate may match: its request was the
// fastest. If none matches at all, the sender's own cause counts, and contradicts is the refuted
// one. Two kinds of requests may have come too late and refute nothing: one for a collection, and
// one without a matching cause for an object that was not removed at once.
func (t *tracer) applyAuditLog(e explanation, o *object.Object, c *Change, left trace) explanation {
	r, match := t.findRequest(o, c, left)
	if r == nil {
		return e
	}
	codes, other := codesOfSender(r)
	var matching, rest []Cause
	for _, x := range append([]Cause{e.cause}, e.alternatives...) {
		switch {
		case slices.Contains(codes, x.Code):
			matching = append(matching, x)
		case r.Verb == Eviction && x.Code == reason.Requested:
			// The history cannot distinguish a delete from an eviction.
		default:
			rest = append(rest, x)
		}
	}
	result := explanation{sent: r, match: match}
	for _, x := range e.certain {
		if slices.Contains(codes, x.Code) && len(matching) == 0 {
			matching = append(matching, x.Cause)
		}
	}
	switch {
	case match == BySelector && len(matching) == 0:
		return e
	case match == BySelector:
	case len(matching) == 0 && c.Type != object.Deleted:
		// An object that is being deleted can be deleted again in the same second.
		matching = []Cause{{Code: other, Request: -1}}
	case len(matching) == 0:
		matching, rest = []Cause{{Code: other, Request: -1}}, nil
		if len(e.alternatives) == 0 && (r.Verb != Eviction || e.cause.Code != reason.Requested) {
			result.contradicts = &e.cause
		}
	default:
		rest = nil
	}
	result.cause, result.alternatives = matching[0], slices.Concat(matching[1:], rest)
	result.byClient = result.cause.Code == reason.Requested || e.byClient && len(rest) > 0
	if result.cause.Request < 0 && !result.byClient {
		result.cause.Request, _ = t.deletionBegan(result.cause.By)
	}
	return result
}

// codesOfSender returns the causes that match the sender of a request, and the cause to report if
// the history has none of them.
func codesOfSender(r *AuditedRequest) (codes []reason.Code, other reason.Code) {
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
	case slices.Contains(workloadControllers, name):
		return []reason.Code{reason.ControllerChanged, reason.Controller}, reason.ByKubernetes
	default:
		return []reason.Code{
			reason.Controller, reason.ControllerChanged, reason.Evicted, reason.CleanedUp, reason.NodeGone, reason.AccountGone,
			reason.ServiceGone, reason.EndpointsGone, reason.ClaimGone, reason.VersionGone, reason.KindUnknown,
		}, reason.ByKubernetes
	}
}

// workloadControllers are the controllers that delete only objects that they control.
var workloadControllers = []string{
	"replicaset-controller", "replication-controller", "deployment-controller", "statefulset-controller", "daemon-set-controller",
	"job-controller", "cronjob-controller",
}

// findRepeatedDelete returns the client request in the audit log that deleted an object again with
// another policy while it was being deleted. It returns nil if there is none, or several of
// different senders.
func (t *tracer) findRepeatedDelete(o *object.Object, revision uint64, policy metav1.DeletionPropagation) *AuditedRequest {
	served, err := t.state.resources.For(o.APIVersion, o.Kind)
	if err != nil {
		return nil
	}
	var found *AuditedRequest
	for _, r := range t.logged.byTarget[target{served.GroupResource(), o.Namespace, o.Name}] {
		if r.Options == nil || r.Options.Policy != policy || r.UIDs != nil && !slices.Contains(r.UIDs, o.UID) || !t.isConcurrent(r, revision) {
			continue
		}
		if _, ok := r.Controller(); ok || found != nil && !found.Equal(&r.Sender) {
			return nil
		}
		found = r
	}
	return found
}

// requestedPolicy returns the policy that a request named, or else the observed one.
func requestedPolicy(r *AuditedRequest, seen metav1.DeletionPropagation) metav1.DeletionPropagation {
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
	microsPerSecond = 1_000_000 // in microseconds, the unit of a log
	// logSkewSeconds is how many seconds clocks may differ.
	logSkewSeconds = 5
)

// LogWindow returns the window of time in an audit log that may have requests of a past.
func (p *Record) LogWindow() LogWindow {
	var w LogWindow
	if p.From.Time != 0 {
		w.From = (p.From.Time - logSkewSeconds) * microsPerSecond
	}
	if p.To.Time != 0 {
		// The last requests may have come after the last tick of the clock.
		w.To = (p.To.Time + logSkewSeconds + maxTickGap) * microsPerSecond
	}
	return w
}

// withLogTimes returns the past with a clock that includes the times of audit log requests with an
// exact match.
func (t *tracer) withLogTimes() *Record {
	if t.past.Log == nil {
		return t.past
	}
	ticks := slices.Clone(t.past.Clock.Ticks())
	for i := range t.losses {
		if l := &t.losses[i]; l.Sent != nil && l.Match != BySelector {
			ticks = append(ticks, Moment{l.Began, l.Sent.Received / microsPerSecond})
		}
	}
	record := *t.past
	record.Clock = NewClock(ticks)
	return &record
}

// requestIndex has the requests of an audit log by their target.
type requestIndex struct {
	byTarget map[target][]*AuditedRequest
	// reused are coordinates that several objects had, one after the other.
	reused map[object.Coordinates]bool
}

// target is an object, or a collection if it has no name.
type target struct {
	schema.GroupResource
	namespace, name string
}

func indexRequests(p *Record, changes []Change) requestIndex {
	s := requestIndex{map[target][]*AuditedRequest{}, map[object.Coordinates]bool{}}
	if p.Log == nil {
		return s
	}
	for i := range p.Log.Requests {
		r := &p.Log.Requests[i]
		at := target{r.Resource, r.Namespace, r.Name}
		s.byTarget[at] = append(s.byTarget[at], r)
	}
	uids := map[object.Coordinates]types.UID{}
	for i := range changes {
		o := changes[i].Object
		at := o.Ref.Coordinates()
		if uid, ok := uids[at]; ok && uid != o.UID {
			s.reused[at] = true
		}
		uids[at] = o.UID
	}
	return s
}

// findRequest returns the request in the audit log that began the deletion of an object with a
// change. It returns nil if the log has none, or several possible ones.
func (t *tracer) findRequest(o *object.Object, c *Change, left trace) (*AuditedRequest, Match) {
	served, err := t.state.resources.For(o.APIVersion, o.Kind)
	if err != nil || len(t.logged.byTarget) == 0 {
		return nil, ""
	}
	at := target{served.GroupResource(), o.Namespace, o.Name}
	var exact, rough []*AuditedRequest
	for _, name := range []string{o.Name, ""} {
		at.name = name
		for _, r := range t.logged.byTarget[at] {
			switch {
			case !t.mayHaveBegun(r, o, c, left):
			case slices.Contains(r.UIDs, o.UID), r.Verb != DeleteCollection && !t.logged.reused[o.Ref.Coordinates()]:
				exact = append(exact, r)
			case r.Verb == DeleteCollection && matchesRequest(r, o):
				rough = append(rough, r)
			}
		}
	}
	r := earliestRequest(exact)
	match := ByName
	switch {
	case len(exact) > 0 && c.Type == object.Deleted:
		// It was removed at once, so no request can follow. But a dry run may have come before.
		r = latestRequest(exact)
	case len(exact) == 0:
		r, match = singleSender(rough), BySelector
	}
	if r != nil && slices.Contains(r.UIDs, o.UID) {
		match = ByUID
	}
	return r, match
}

// mayHaveBegun reports whether a request may have begun the deletion of an object.
func (t *tracer) mayHaveBegun(r *AuditedRequest, o *object.Object, c *Change, left trace) bool {
	switch {
	case r.UIDs != nil && !slices.Contains(r.UIDs, o.UID), r.Removed && c.Type != object.Deleted, !t.isConcurrent(r, c.Revision):
		return false
	case c.Object.BeingDeleted():
		// The deletionTimestamp has the time by the same clock.
		if at := c.Object.Deleted(); at < r.Received/microsPerSecond || at > r.Answered/microsPerSecond {
			return false
		}
	}
	return r.Options == nil || t.state.inferred[identityOf(o.Ref)] || t.mayLeave(o, left, r.Options.Policy)
}

// isConcurrent reports whether a request may have been in progress at a revision.
func (t *tracer) isConcurrent(r *AuditedRequest, revision uint64) bool {
	from, to := t.past.Clock.At(revision).Time, t.past.Clock.Until(revision)
	return r.Answered >= (from-logSkewSeconds)*microsPerSecond && (to == 0 || r.Received <= (to+1+logSkewSeconds)*microsPerSecond)
}

// earliestRequest returns the first of several requests; nil if another sender's may have been
// first.
func earliestRequest(list []*AuditedRequest) *AuditedRequest {
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

// latestRequest returns the last of one or more requests; nil if another sender's may have been
// last.
func latestRequest(list []*AuditedRequest) *AuditedRequest {
	r := slices.MaxFunc(list, func(a, b *AuditedRequest) int { return int(a.Answered - b.Answered) })
	for _, other := range list {
		if !other.Equal(&r.Sender) && other.Answered >= r.Received {
			return nil
		}
	}
	return r
}

// singleSender returns the first of several requests of one client; nil if there are several
// clients.
func singleSender(list []*AuditedRequest) *AuditedRequest {
	for _, r := range list {
		if !r.Equal(&list[0].Sender) {
			return nil
		}
	}
	return earliestRequest(list)
}

// matchesRequest reports whether an object was in a collection, as far as its metadata shows.
func matchesRequest(r *AuditedRequest, o *object.Object) bool {
	known := fields.Set{"metadata.name": o.Name, "metadata.namespace": o.Namespace}
	for _, f := range r.Fields.Requirements() {
		if !known.Has(f.Field) {
			return false
		}
	}
	return r.UIDs == nil && r.Labels.Matches(o.Labels) && r.Fields.Matches(known)
}
