package engine

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// WithEconomy has attempts ask only for what is not known already. Where upstream
// spends two requests for an object that it collects, and three when its owner
// waits, this spends one:
//
//  1. The object is not read: a watch has delivered it. Every request is pinned to
//     its UID and to the resourceVersion that was observed, so that the server
//     refuses whatever rests on an older state. Such an attempt is repeated with a
//     fresh read, up to 5 times; then it is Contended, and deferred. No DELETE is
//     ever sent without a resourceVersion. (The one combination for which a server
//     refuses a right one, S020, does not arise: a policy that strips the only
//     finalizers of an object is never chosen here, see policyOf.)
//  2. An object that was just written is not attempted again before the watch has
//     shown what became of it: the answer could only be a conflict, or 404. If
//     the watch stays silent it is read (Refresh).
//  3. An owner that was read and found waiting is waiting for its other dependents
//     too, for as long as the graph says the same and the burst lasts (Refresh).
//     A deletion timestamp is never taken back, so the only news would be the end
//     of the finalizer, and that is what the graph watches for.
//  4. A member of a suspected cycle stops blocking in one attempt and is deleted
//     in the next one, when the watch has shown the first: the DELETE behind the
//     PATCH would be pinned to the version that the PATCH has just replaced, so
//     upstream's first DELETE there always fails.
//  5. Releasing a dependent of a custom kind starts with the merge patch: the
//     strategic one would be answered with 415.
//
// The end state is upstream's: the rules, the graph and the order of the requests
// about one object are the same, and what is decided on an older state than
// upstream would have read changes nothing (the server refuses it) or is a
// decision to keep, which the event that makes it wrong revises: an owner that
// goes, or a reference that comes, queues the object again.
//
// The absence of an owner is not taken from the graph: it is asked for, as ever.
func WithEconomy() Option {
	return func(c *Collector) {
		c.economical = true
		c.sent = map[graph.ID]sentMark{}
		c.tries = map[graph.ID]int{}
		c.waits = map[object.Ref]bool{}
	}
}

// freshTries is how often an object is read afresh after a conflict before its
// attempt is given up for a while.
const freshTries = 5

// sentMark says that a request was accepted that was pinned to a version: as long
// as that one is what the graph shows, the world knows more than the graph.
type sentMark struct {
	version string
	// aged: it was there when Refresh was called last.
	aged bool
}

// Refresh says that a burst is over: a live driver calls it every few seconds
// while Unsure. What was found of owners is forgotten; and an object that was
// written at least one call ago, of which no event has come, is read the next
// time.
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

// Unsure reports whether Refresh has something to do.
func (c *Collector) Unsure() bool { return len(c.sent)+len(c.waits) > 0 }

// Unseen is the number of objects that were written and of which no watch has
// shown yet what became of them.
func (c *Collector) Unseen() int { return len(c.sent) }

// noteSent marks what an outcome has written.
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

// economise makes requests of a decision that hold for one version, and leaves
// out those that cannot succeed or would change nothing.
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

// unblocks reports whether an Unblock changes anything: the merge patch of a custom kind
// also says false where nothing was said.
func (f *Facts) unblocks() bool {
	return slices.ContainsFunc(f.Item.Owners, func(o object.OwnerReference) bool {
		return o.Blocks() || f.Custom && o.BlockOwnerDeletion != object.False
	})
}

// stubborn reports whether some reference goes on blocking when all are told not to: a
// strategic patch finds references by UID, and of several to one owner the first. No
// watch would ever show such an object unblocked, so that the DELETE goes out behind
// the PATCH, as upstream's does; the second time the PATCH changes nothing, and the
// version holds.
func stubborn(owners []object.OwnerReference) bool {
	for i, o := range owners {
		earlier := func(e object.OwnerReference) bool { return e.UID == o.UID }
		if o.Blocks() && slices.ContainsFunc(owners[:i], earlier) {
			return true
		}
	}
	return false
}

// pointless uses up an attempt that nothing can come of: the object has gone, or
// it was written and the watch has not shown it yet, which will bring the attempt
// back.
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

// shown says that a watch has shown an object: who waited for that comes now.
func (c *Collector) shown(id graph.ID) {
	if m, ok := c.sent[id]; ok && m.version != c.graph.Object(id).ResourceVersion {
		delete(c.sent, id)
		c.wakeBoth(id)
	}
}

// gone says that a node has left the graph: what waits for it is used up.
func (c *Collector) gone(id graph.ID) {
	if c.economical {
		delete(c.sent, id)
		delete(c.tries, id)
		c.wakeBoth(id)
	}
}

// doubt has an object read the next time, if it was written since it was last
// observed.
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

// knownToWait reports whether the owner that a reference names was found waiting in
// this burst, and is so by what was last observed. The graph never forgets that a uid was
// seen waiting, although by now it may be that of another object.
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
