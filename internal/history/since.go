package history

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Since is what is known of a past behind a revision, without what was before: what there was by
// then stands, or is what the next change has changed.
func (p *Past) Since(revision uint64) *Past {
	if revision <= p.From.Revision {
		return p
	}
	next := *p
	next.From = p.Clock.At(revision)
	i := slices.IndexFunc(p.Clock.ticks, func(m Moment) bool { return m.Revision > revision })
	if i < 0 {
		i = len(p.Clock.ticks)
	}
	next.Clock = Clock{slices.Clone(p.Clock.ticks[max(0, i-1):])}
	next.Changes, next.Limits = nil, nil
	limited := map[schema.GroupKind]bool{}
	for _, l := range p.Limits {
		if l.From.Revision > p.From.Revision && l.From.Revision <= revision {
			continue // it is known from then on
		}
		if l.From.Revision != 0 && l.From.Revision <= p.From.Revision {
			l.From = next.From
		}
		next.Limits = append(next.Limits, l)
		limited[schema.GroupKind{Group: l.Resource.Group, Kind: l.Resource.Kind}] = true
	}
	var order []place
	last, changed := map[place]*Change{}, map[place]bool{} // since the beginning until the revision
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.Object == nil {
			continue
		}
		at := placeOf(c.Object.Ref)
		was := last[at]
		if c.Revision <= revision {
			if !changed[at] {
				order = append(order, at)
			}
			changed[at] = true
			last[at] = c
			continue
		}
		later := *c
		if was != nil && later.Old == nil && later.Type != object.Added && was.Type != object.Deleted && was.Object.UID == later.Object.UID {
			later.Old = was.Object
		}
		next.Changes = append(next.Changes, later)
		delete(last, at)
	}
	next.Standing = slices.DeleteFunc(slices.Clone(p.Standing), func(o *object.Object) bool { return changed[placeOf(o.Ref)] })
	next.Absent = slices.DeleteFunc(slices.Clone(p.Absent), func(r object.Ref) bool { return changed[placeOf(r)] })
	for _, at := range order {
		switch c := last[at]; {
		case c == nil:
		case c.Type != object.Deleted:
			next.Standing = append(next.Standing, c.Object)
		case !limited[schema.GroupKind{Group: at.group, Kind: at.kind}]:
			next.Absent = append(next.Absent, c.Object.WithoutUID())
		}
	}
	return &next
}
