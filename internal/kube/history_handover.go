package kube

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// look looks at the clock of the server, and hands over what was before the last look: all of
// that has come by now. It reports whether something was missed, which has to be read.
func (p *pastFollower) look(ctx context.Context) (behind bool, err error) {
	now, err := p.moment(ctx)
	if err != nil {
		p.tell(ctx, err)
		return false, nil
	}
	to := p.seen
	p.seen = now
	if to.Revision <= p.to.Revision {
		return false, nil
	}
	if !p.well() {
		if p.unwell.IsZero() {
			p.unwell = time.Now()
		}
		return time.Since(p.unwell) > longUnwell, nil
	}
	p.unwell = time.Time{}
	if p.missed() {
		return true, nil
	}
	rest := p.losses == p.counted
	p.counted = p.losses
	if len(p.pending) < muchPending && (p.losses == 0 || !rest && time.Since(p.since) < mostRest) {
		return false, nil
	}
	return false, p.handOver(to)
}

// moment is now. Without the leases it is the newest change.
func (p *pastFollower) moment(ctx context.Context) (history.Moment, error) {
	switch {
	case p.clock.timeless():
		return history.Moment{Revision: p.highest}, nil
	case len(p.clock.ticks) == 0:
		return p.clock.begin(ctx, p.o.Window.Namespaces)
	}
	return p.clock.read(ctx, 0)
}

// well reports whether every kind is watched that can be.
func (p *pastFollower) well() bool {
	for _, k := range p.feed.Kinds() {
		if k.State != Synced && !p.hopeless(k.Resource.GroupResource()) {
			return false
		}
	}
	return true
}

// hopeless reports whether a kind cannot be read, as was said, or is gone.
func (p *pastFollower) hopeless(gr schema.GroupResource) bool {
	return p.ended[gr] || slices.ContainsFunc(p.lacking, func(l history.Limit) bool { return l.Resource.GroupResource() == gr })
}

// missed reports whether a watch has missed something since it was asked last.
func (p *pastFollower) missed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	missed := false
	for gr := range p.holes {
		missed = missed || !p.hopeless(gr)
	}
	p.holes = nil
	return missed
}

// handOver hands over what there is up to a moment.
func (p *pastFollower) handOver(to history.Moment) error {
	past := &history.Past{From: p.to, To: to, Namespaces: p.o.Window.Namespaces, Resources: p.client.discovery.Load().Resources}
	before := map[pastPlace]*object.Object{} // what is at a place was that there at the moment
	for _, c := range slices.Backward(p.pending) {
		if c.Revision > to.Revision {
			before[pastPlaceOf(c.Object.Ref)] = c.Old
			continue
		}
		past.Changes = append(past.Changes, c)
	}
	slices.Reverse(past.Changes)
	slices.SortStableFunc(past.Changes, func(a, b history.Change) int { return cmp.Compare(a.Revision, b.Revision) })
	past.Clock = history.NewClock(useful(p.clock.allTicks(past.Changes), past))
	p.clock.ticks = slices.Clone(p.clock.ticks[max(0, len(p.clock.ticks)-2):])
	watched := map[schema.GroupKind]bool{}
	for _, k := range p.feed.Kinds() {
		watched[schema.GroupKind{Group: k.Resource.Group, Kind: k.Resource.Kind}] = k.State == Synced
	}
	p.lacking = slices.DeleteFunc(p.lacking, func(l history.Limit) bool {
		return watched[schema.GroupKind{Group: l.Resource.Group, Kind: l.Resource.Kind}]
	})
	past.Limits = slices.Clone(p.lacking)
	for _, ref := range newPastReader(p.client, p.to.Revision, to.Revision).unchanged(past) {
		at := pastPlaceOf(ref)
		o, later := before[at]
		if !later {
			o = p.states[at]
		}
		switch {
		case o != nil:
			past.Standing = append(past.Standing, o)
		case watched[schema.GroupKind{Group: at.group, Kind: at.kind}] && p.within(at.namespace):
			past.Absent = append(past.Absent, ref)
		}
	}
	p.to = to
	p.drop(func(c *history.Change) bool { return c.Revision <= to.Revision })
	return p.o.Take(past)
}

// within reports whether what is in a namespace is followed.
func (p *pastFollower) within(namespace string) bool {
	return namespace == "" || p.onlyNamespace() == "" || namespace == p.onlyNamespace()
}

// useful are the ticks that say when something has changed: who watches for days has no use for
// the others.
func useful(ticks []history.Moment, past *history.Past) []history.Moment {
	list := []history.Moment{past.From, past.To}
	i := 0
	for n, tick := range ticks {
		for i < len(past.Changes) && past.Changes[i].Revision < tick.Revision {
			i++
		}
		last := n+1 == len(ticks)
		if i < len(past.Changes) && (last || past.Changes[i].Revision < ticks[n+1].Revision) {
			list = append(list, tick)
			if !last {
				list = append(list, ticks[n+1])
			}
		}
	}
	return slices.DeleteFunc(list, func(m history.Moment) bool { return m.Time == 0 || m.Revision > past.To.Revision })
}

// revisionOf is the revision of the write that has left an object so.
func revisionOf(o *object.Object) (uint64, bool) {
	n, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	return n, err == nil
}
