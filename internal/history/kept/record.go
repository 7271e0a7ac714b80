package kept

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Record is the past in a file: a history.Record.
type Record struct {
	cluster Cluster
	whole   history.Past
	ticks   []history.Moment
	// bodies has the whole objects of each place.
	bodies map[object.Coordinates][]*body
	// writes has the creations, changes and deletions of each place, in order.
	writes map[object.Coordinates][]write
}

// write is the content of a place from a revision on.
type write struct {
	revision       uint64
	uid            types.UID
	added, deleted bool
}

func newRecord(t title) *Record {
	return &Record{
		cluster: t.Cluster,
		whole:   history.Past{From: t.From.moment(), To: t.To.moment(), Resources: &object.Resources{}},
		bodies:  map[object.Coordinates][]*body{}, writes: map[object.Coordinates][]write{},
	}
}

func (l *limit) limit() history.Limit {
	return history.Limit{Resource: l.Resource.Resource(), From: l.From.moment(), Listed: l.Listed, Why: l.Why}
}

func (c *change) change(intern *manifest.Interner) (history.Change, error) {
	if c.Object == nil || c.Revision == 0 || c.Type > object.Deleted {
		return history.Change{}, errors.New("a change says nothing about an object")
	}
	h := history.Change{Revision: c.Revision, After: c.After, Unseen: c.Unseen, Type: c.Type, Object: c.Object.Object(intern)}
	if h.Object.UID == "" {
		return h, fmt.Errorf("%s has no uid", h.Object.Ref)
	}
	if c.Old != nil {
		h.Old = c.Old.Object(intern)
	}
	return h, nil
}

// index completes a record after its last line.
func (r *Record) index() {
	p := &r.whole
	p.Clock = history.NewClock(r.ticks)
	p.Timeless = len(p.Clock.Ticks()) == 0
	slices.SortStableFunc(p.Changes, func(a, b history.Change) int { return cmp.Compare(a.Revision, b.Revision) })
	for _, o := range p.Standing {
		at := o.Ref.Coordinates()
		r.writes[at] = append(r.writes[at], write{uid: o.UID})
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		at := c.Object.Ref.Coordinates()
		r.writes[at] = append(r.writes[at], write{c.Revision, c.Object.UID, c.Type == object.Added, c.Type == object.Deleted})
	}
}

// Cluster returns the cluster of the history.
func (r *Record) Cluster() Cluster { return r.cluster }

// Resources returns the kinds that the cluster served.
func (r *Record) Resources() *object.Resources { return r.whole.Resources }

// Past returns the part of the past in a window.
func (r *Record) Past(_ context.Context, w history.Window) (*history.Past, error) {
	p := r.whole
	switch {
	case w.SinceRevision > p.To.Revision:
		return nil, fmt.Errorf("revision %d is not there: the history ends at %d", w.SinceRevision, p.To.Revision)
	case w.SinceRevision > p.From.Revision:
		p.From = p.Clock.At(w.SinceRevision)
	case w.Since > 0 && p.To.Time > 0:
		if since := p.Clock.Before(p.To.Time - w.Since); since.Revision > p.From.Revision {
			p.From = since
		}
	}
	first, _ := slices.BinarySearchFunc(p.Changes, p.From.Revision+1, func(c history.Change, r uint64) int { return cmp.Compare(c.Revision, r) })
	p.Standing = standing(p.Standing, p.Changes[:first])
	p.Limits = limits(&r.whole, p.From)
	p.Changes = nil
	for _, c := range r.whole.Changes[first:] {
		if ns := c.Object.Namespace; len(w.Namespaces) == 0 || ns == "" || slices.Contains(w.Namespaces, ns) {
			p.Changes = append(p.Changes, c)
		}
	}
	return &p, nil
}

// standing returns the objects that exist after some changes, sorted.
func standing(first []*object.Object, changes []history.Change) []*object.Object {
	now := make(map[types.UID]*object.Object, len(first))
	for _, o := range first {
		now[o.UID] = o
	}
	for i := range changes {
		if c := &changes[i]; c.Type == object.Deleted {
			delete(now, c.Object.UID)
		} else {
			now[c.Object.UID] = c.Object
		}
	}
	var list []*object.Object
	for _, o := range now {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return list
}

// limits returns the limits of the whole past that affect the time since a moment. A limit lasts
// until the history of its kind begins, or to the end if it begins with the past.
func limits(whole *history.Past, from history.Moment) []history.Limit {
	var list []history.Limit
	for _, l := range whole.Limits {
		until := whole.To.Revision
		if l.From.Revision > whole.From.Revision {
			until = l.From.Revision
		}
		if until <= from.Revision && until != whole.To.Revision {
			continue
		}
		if l.From.Revision != 0 && l.From.Revision < from.Revision {
			l.From = from
		}
		list = append(list, l)
	}
	return list
}
