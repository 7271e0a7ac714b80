package history

import (
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
	// beat is how many seconds later than its known time the last revision may be.
	beat = 15
)

// Logged returns the window of time in an audit log that may have requests of a past.
func (p *Past) Logged() audit.Window {
	var w audit.Window
	if p.From.Time != 0 {
		w.From = (p.From.Time - skew) * second
	}
	if p.To.Time != 0 {
		// The last requests may have come after the last tick of the clock.
		w.To = (p.To.Time + skew + beat) * second
	}
	return w
}

// timed returns the past with a clock that includes the times of audit log requests with an exact
// match.
func (t *tracer) timed() *Past {
	if t.past.Log == nil {
		return t.past
	}
	ticks := slices.Clone(t.past.Clock.Ticks())
	for i := range t.losses {
		if l := &t.losses[i]; l.Sent != nil && l.Match != BySelector {
			ticks = append(ticks, Moment{l.Asked, l.Sent.Received / second})
		}
	}
	past := *t.past
	past.Clock = NewClock(ticks)
	return &past
}

// senders has the requests of an audit log by their target.
type senders struct {
	of map[target][]*audit.Request
	// shared are places that several objects had, one after the other.
	shared map[object.Coordinates]bool
}

// target is an object, or a collection if it has no name.
type target struct {
	schema.GroupResource
	namespace, name string
}

func sendersIn(p *Past, changes []Change) senders {
	s := senders{map[target][]*audit.Request{}, map[object.Coordinates]bool{}}
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
func (t *tracer) sender(o *object.Object, c *Change, left trace) (*audit.Request, Match) {
	served, err := t.world.resources.For(o.APIVersion, o.Kind)
	if err != nil || len(t.senders.of) == 0 {
		return nil, ""
	}
	at := target{served.GroupResource(), o.Namespace, o.Name}
	var exact, rough []*audit.Request
	for _, name := range []string{o.Name, ""} {
		at.name = name
		for _, r := range t.senders.of[at] {
			switch {
			case !t.fits(r, o, c, left):
			case slices.Contains(r.UIDs, o.UID), r.Verb != audit.Collection && !t.senders.shared[o.Ref.Coordinates()]:
				exact = append(exact, r)
			case r.Verb == audit.Collection && selects(r, o):
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
func (t *tracer) fits(r *audit.Request, o *object.Object, c *Change, left trace) bool {
	switch {
	case r.UIDs != nil && !slices.Contains(r.UIDs, o.UID), r.Removed && c.Type != object.Deleted, !t.near(r, c.Revision):
		return false
	case c.Object.BeingDeleted():
		// The deletionTimestamp has the time by the same clock.
		if at := c.Object.Deleted(); at < r.Received/second || at > r.Answered/second {
			return false
		}
	}
	return r.Options == nil || t.world.guessed[identityOf(o.Ref)] || t.leaves(o, left, policyOf(r))
}

// near reports whether a request may have been in progress at a revision.
func (t *tracer) near(r *audit.Request, revision uint64) bool {
	from, to := t.past.Clock.At(revision).Time, t.past.Clock.Until(revision)
	return r.Answered >= (from-skew)*second && (to == 0 || r.Received <= (to+1+skew)*second)
}

// firstSent returns the first of several requests; nil if another sender's may have been first.
func firstSent(list []*audit.Request) *audit.Request {
	if len(list) == 0 {
		return nil
	}
	r := slices.MinFunc(list, func(a, b *audit.Request) int { return int(a.Received - b.Received) })
	for _, other := range list {
		if !other.Equal(&r.Sender) && other.Received <= r.Answered {
			return nil
		}
	}
	return r
}

// lastSent returns the last of several requests; nil if another sender's may have been last.
func lastSent(list []*audit.Request) *audit.Request {
	r := slices.MaxFunc(list, func(a, b *audit.Request) int { return int(a.Answered - b.Answered) })
	for _, other := range list {
		if !other.Equal(&r.Sender) && other.Answered >= r.Received {
			return nil
		}
	}
	return r
}

// oneSender returns the first of several requests of one client; nil if there are several clients.
func oneSender(list []*audit.Request) *audit.Request {
	for _, r := range list {
		if !r.Equal(&list[0].Sender) {
			return nil
		}
	}
	return firstSent(list)
}

// selects reports whether an object was in a collection, as far as its metadata shows.
func selects(r *audit.Request, o *object.Object) bool {
	known := fields.Set{"metadata.name": o.Name, "metadata.namespace": o.Namespace}
	for _, f := range r.Fields.Requirements() {
		if !known.Has(f.Field) {
			return false
		}
	}
	return r.UIDs == nil && r.Labels.Matches(o.Labels) && r.Fields.Matches(known)
}
