package engine

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// WithEconomy makes attempts request only what isn't known already. For an object that is
// collected, upstream sends two requests, and three if its owner waits; this sends one:
//
//  1. The object is not read, because a watch has delivered it. Every request is pinned to the
//     UID and the resourceVersion that were observed, so that the server refuses decisions on an
//     older state. Such an attempt is repeated with a fresh read, up to 5 times; then it is
//     Contended and deferred. No DELETE is sent without a resourceVersion. (The one combination
//     for which a server refuses a right one, S020, does not arise: a policy that strips the only
//     finalizers of an object is never chosen here, see policyOf.)
//  2. An object that was just written is not attempted again before the watch has shown the
//     result: the answer could only be a conflict or 404. If the watch stays silent, the object
//     is read (Refresh).
//  3. An owner that was read and found waiting is assumed to wait for its other dependents too,
//     until the graph shows another state or the burst ends (Refresh). A deletion timestamp is
//     never reverted, so only the removal of the finalizer could change that, and the graph
//     watches for it.
//  4. A member of a suspected cycle stops blocking in one attempt and is deleted in the next one,
//     after the watch has shown the first: a DELETE right after the PATCH would be pinned to the
//     version that the PATCH has just replaced. Upstream's first DELETE there always fails.
//  5. Releasing a dependent of a custom kind starts with the merge patch: the strategic one would
//     return 415.
//
// The end state is upstream's: the rules, the graph and the order of the requests for one object
// are the same. A decision on an older state than upstream would have read has no effect: the
// server refuses it, or it keeps the object and is revised by the next event. An owner that is
// deleted, or a reference that is added, queues the object again.
//
// The absence of an owner is never derived from the graph. It is always read.
func WithEconomy() Option {
	return func(c *Collector) {
		c.economical = true
		c.sent = map[graph.ID]sentMark{}
		c.tries = map[graph.ID]int{}
		c.waits = map[object.Ref]bool{}
	}
}

// freshTries is the number of fresh reads after conflicts before an attempt is deferred.
const freshTries = 5

// sentMark says that a request for this version was accepted. While the graph still has that
// version, it is outdated.
type sentMark struct {
	version string
	// aged is true if the mark was there at the last call of Refresh.
	aged bool
}

// Refresh ends a burst. A live driver calls it every few seconds while Unsure. It forgets the
// waiting owners. An object that was written before the previous call, and without an event since,
// is read by its next attempt.
func (c *Collector) Refresh() {
	clear(c.waits)
	var silent []graph.ID
	for id, m := range c.sent {
		if m.aged {
			silent = append(silent, id)
			continue
		}
		m.aged = true
		c.sent[id] = m
	}
	slices.Sort(silent)
	for _, id := range silent {
		c.doubt(id)
		c.wakeBoth(id)
	}
}

// Unsure reports whether Refresh has work.
func (c *Collector) Unsure() bool { return len(c.sent)+len(c.waits) > 0 }

// Unseen returns the number of objects that were written and not shown by a watch since.
func (c *Collector) Unseen() int { return len(c.sent) }

// noteSent records the objects that an outcome has written.
func (c *Collector) noteSent(out *Outcome) {
	if !c.economical || out.Err != nil || out.Disposition == Vanish {
		return
	}
	for _, r := range out.Decision.Requests {
		if r.Live == nil || r.Live.ResourceVersion == "" {
			continue
		}
		id, ok := c.graph.Find(r.Ref.UID)
		if ok && !c.graph.Virtual(id) && c.graph.Object(id).ResourceVersion == r.Live.ResourceVersion {
			c.sent[id] = sentMark{version: r.Live.ResourceVersion}
		}
	}
}

// economise gives the requests of a decision the object version to pin them to, and drops requests
// that would change nothing. After an Unblock, the DELETE is left to the next attempt, unless a
// reference is stubborn.
func (d *Decision) economise(f *Facts) {
	kept := d.Requests[:0]
	for _, r := range d.Requests {
		switch {
		case r.Verb == RemoveFinalizer && f.Item != nil:
			if !f.Item.HasFinalizer(r.Finalizer) {
				continue
			}
			r.Live = f.Item
		case r.Verb == RemoveFinalizer && !d.Attempt.Virtual:
			r.Live = d.Attempt.Observed
		case r.Verb == Unblock && !f.unblocks():
			continue
		case r.Verb == Unblock && (f.Custom || !stubborn(f.Item.Owners)):
			kept = append(kept, r)
			d.Requests, d.Disposition = kept, Again
			return
		}
		kept = append(kept, r)
	}
	d.Requests = kept
}

// unblocks reports whether an Unblock changes anything. The merge patch of a custom kind also sets
// false where the field was unset.
func (f *Facts) unblocks() bool {
	return slices.ContainsFunc(f.Item.Owners, func(o object.OwnerReference) bool {
		return o.Blocks() || f.Custom && o.BlockOwnerDeletion != object.False
	})
}

// stubborn reports whether a reference keeps blocking after an Unblock: a strategic patch finds
// references by UID, and changes only the first of several to one owner. No watch would ever show
// such an object unblocked. The DELETE is therefore sent right after the PATCH, as upstream does.
// On the second attempt the PATCH changes nothing, and the version holds.
func stubborn(owners []object.OwnerReference) bool {
	for i, o := range owners {
		earlier := func(e object.OwnerReference) bool { return e.UID == o.UID }
		if o.Blocks() && slices.ContainsFunc(owners[:i], earlier) {
			return true
		}
	}
	return false
}

// pointless reports whether an attempt cannot have an effect, and then uses it up: the object is
// gone, or it was written and the watch hasn't shown it yet. The event will queue the attempt
// again.
func (c *Collector) pointless(w Work, id graph.ID) bool {
	q := c.queue(w)
	switch {
	case !c.graph.Present(id):
		q.settle(id)
		c.free(id)
	case c.superseded(id):
		q.postpone(id)
		q.settle(id)
	default:
		return false
	}
	return true
}

// superseded reports whether an object was written since it was last observed.
func (c *Collector) superseded(id graph.ID) bool {
	m, ok := c.sent[id]
	return ok && m.version == c.graph.Object(id).ResourceVersion
}

// shown is called after a watch has shown an object. It wakes the attempts that waited for that.
func (c *Collector) shown(id graph.ID) {
	if m, ok := c.sent[id]; ok && m.version != c.graph.Object(id).ResourceVersion {
		delete(c.sent, id)
		c.wakeBoth(id)
	}
}

// gone is called after a node has left the graph. It wakes the attempts that waited for the node.
func (c *Collector) gone(id graph.ID) {
	if c.economical {
		delete(c.sent, id)
		delete(c.tries, id)
		c.wakeBoth(id)
	}
}

// doubt makes the next attempt read the object if it was written since it was last observed.
func (c *Collector) doubt(id graph.ID) {
	if _, ok := c.sent[id]; ok {
		delete(c.sent, id)
		c.tries[id] = max(c.tries[id], 1)
	}
}

func (c *Collector) wakeBoth(id graph.ID) {
	c.wakeOne(DeleteWork, id)
	c.wakeOne(OrphanWork, id)
}

// knownToWait reports whether the owner that a reference names was found waiting in this burst and
// was waiting when last observed. The graph's flag is not enough: it is never cleared, although the
// UID may be another object's by now.
func (c *Collector) knownToWait(ref object.OwnerReference, namespace string) bool {
	id, ok := c.graph.Find(ref.UID)
	if !ok || c.graph.Virtual(id) || !c.graph.Object(id).WaitingForDependents() {
		return false
	}
	if c.rules == Strict && outlivesWaiting(c.graph.Object(id), &ref) {
		return false
	}
	owner := c.graph.Identity(id)
	return c.waits[owner] && named(ref, namespace, owner)
}
