package history

import (
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Match is by what a request in an audit log was found to be that of a loss.
type Match string

// The matches.
const (
	// ByUID and ByName are of a request for the object itself, which has its uid or name, and
	// which came when the object began to be deleted.
	ByUID  Match = "UID"
	ByName Match = "Name"
	// BySelector is of a request for a collection that the object was in. It may have come a
	// moment after another request.
	BySelector Match = "Selector"
)

const (
	second = 1_000_000 // in the microseconds of a log
	// skew is how many seconds clocks may differ.
	skew = 5
	// beat is how many seconds the last revision may be younger than is known.
	beat = 15
)

// Logged is the time of which an audit log may tell something about a past.
func (p *Past) Logged() audit.Window {
	var w audit.Window
	if p.From.Time != 0 {
		w.From = (p.From.Time - skew) * second
	}
	if p.To.Time != 0 {
		// The clock ticks now and then: the last requests may have come a tick later.
		w.To = (p.To.Time + skew + beat) * second
	}
	return w
}

// timed is the past with a clock that also has the times of requests in the audit log, of
// those that are known to be the right ones.
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

// senders are the requests of an audit log by what they were for.
type senders struct {
	of map[target][]*audit.Request
	// shared are the places in which there were several objects, one after the other.
	shared map[place]bool
}

// target is an object, or without a name a collection.
type target struct {
	schema.GroupResource
	namespace, name string
}

func sendersIn(p *Past, changes []Change) senders {
	s := senders{map[target][]*audit.Request{}, map[place]bool{}}
	if p.Log == nil {
		return s
	}
	for i := range p.Log.Requests {
		r := &p.Log.Requests[i]
		at := target{r.Resource, r.Namespace, r.Name}
		s.of[at] = append(s.of[at], r)
	}
	uids := map[place]types.UID{}
	for i := range changes {
		o := changes[i].Object
		at := placeOf(o.Ref)
		if uid, ok := uids[at]; ok && uid != o.UID {
			s.shared[at] = true
		}
		uids[at] = o.UID
	}
	return s
}

// sender is the request in the audit log with which a change has begun the deletion of an
// object; nil where the log has none, or several of which any may be it.
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
			case slices.Contains(r.UIDs, o.UID), r.Verb != audit.Collection && !t.senders.shared[placeOf(o.Ref)]:
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
		// It went at once: nothing could be asked of it later, but a rehearsal may have come before.
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
		// The object says when, by the same clock.
		if at := c.Object.Deleted(); at < r.Received/second || at > r.Answered/second {
			return false
		}
	}
	return r.Options == nil || t.world.guessed[identityOf(o.Ref)] || t.leaves(o, left, policyOf(r))
}

// near reports whether a request was under way at a revision, as exactly as that is known.
func (t *tracer) near(r *audit.Request, revision uint64) bool {
	from, to := t.past.Clock.At(revision).Time, t.past.Clock.Until(revision)
	return r.Answered >= (from-skew)*second && (to == 0 || r.Received <= (to+1+skew)*second)
}

// firstSent is the one of several requests that came first; nil where another one may have.
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

// lastSent is the one of several requests that came last; nil where another one may have.
func lastSent(list []*audit.Request) *audit.Request {
	r := slices.MaxFunc(list, func(a, b *audit.Request) int { return int(a.Answered - b.Answered) })
	for _, other := range list {
		if !other.Equal(&r.Sender) && other.Answered >= r.Received {
			return nil
		}
	}
	return r
}

// oneSender is the first of several requests that one client has sent; nil for several.
func oneSender(list []*audit.Request) *audit.Request {
	for _, r := range list {
		if !r.Equal(&list[0].Sender) {
			return nil
		}
	}
	return firstSent(list)
}

// selects reports whether an object was in a collection, as far as its metadata tells.
func selects(r *audit.Request, o *object.Object) bool {
	known := fields.Set{"metadata.name": o.Name, "metadata.namespace": o.Namespace}
	for _, f := range r.Fields.Requirements() {
		if !known.Has(f.Field) {
			return false
		}
	}
	return r.UIDs == nil && r.Labels.Matches(o.Labels) && r.Fields.Matches(known)
}
