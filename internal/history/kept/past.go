package kept

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var errNothing = errors.New("it holds no history yet: it was watched for a few seconds only")

// past is what the annals know of a window.
func (a *annals) past(w history.Window) (*history.Past, error) {
	if a.to == 0 {
		return nil, errNothing
	}
	clock := history.NewClock(a.ticks)
	p := &history.Past{From: clock.At(a.from), To: clock.At(a.to), Clock: clock, Timeless: len(clock.Ticks()) == 0, Elsewhere: a.elsewhere, Resources: a.served}
	if a.spanned.From.Revision == a.from {
		p.From = a.spanned.From.moment()
	} else if first := clock.First(); p.From.Time == 0 && first.Revision > a.from && first.Revision <= a.to && !a.deletes(first.Revision) {
		p.From = first // a few seconds later, known when, and nothing is left out
	}
	if a.spanned.To.Revision == a.to {
		p.To = a.spanned.To.moment()
	}
	switch {
	case w.SinceRevision > a.to:
		return nil, fmt.Errorf("revision %d is not there: the history ends at %d", w.SinceRevision, a.to)
	case w.SinceRevision > p.From.Revision:
		p.From = clock.At(w.SinceRevision)
	case w.Since > 0 && p.To.Time > 0:
		if since := clock.Before(p.To.Time - w.Since); since.Revision > p.From.Revision {
			p.From = since
		}
	}
	changes := slices.Clone(a.changes)
	slices.SortStableFunc(changes, func(x, y history.Change) int { return cmp.Compare(x.Revision, y.Revision) })
	first, _ := slices.BinarySearchFunc(changes, p.From.Revision+1, func(c history.Change, r uint64) int { return cmp.Compare(c.Revision, r) })
	p.Standing = a.standing(changes[:first])
	p.Limits = a.limits(p)
	for _, c := range changes[first:] {
		if ns := c.Object.Namespace; c.Revision <= a.to && (len(w.Namespaces) == 0 || ns == "" || slices.Contains(w.Namespaces, ns)) {
			p.Changes = append(p.Changes, c)
		}
	}
	p.Absent = a.missing(p)
	return p, nil
}

// deletes reports whether anything goes, or begins to, up to a revision.
func (a *annals) deletes(until uint64) bool {
	return slices.ContainsFunc(a.changes, func(c history.Change) bool {
		return c.Revision <= until && (c.Type == object.Deleted || c.Object.BeingDeleted())
	})
}

// standing is what was there behind some changes.
func (a *annals) standing(changes []history.Change) []*object.Object {
	var list []*object.Object
	for _, s := range a.kinds {
		list = append(list, s.first...)
	}
	if len(changes) > 0 {
		now := map[types.UID]*object.Object{}
		for _, o := range list {
			now[o.UID] = o
		}
		for i := range changes {
			if c := &changes[i]; c.Type == object.Deleted {
				delete(now, c.Object.UID)
			} else {
				now[c.Object.UID] = c.Object
			}
		}
		return sortedObjects(now)
	}
	slices.SortFunc(list, func(x, y *object.Object) int { return object.Compare(x.Ref, y.Ref) })
	return list
}

// limits are the kinds of which less is known behind the beginning of p.
func (a *annals) limits(p *history.Past) []history.Limit {
	var list []history.Limit
	said := map[kind]bool{}
	say := func(k kind, from history.Moment, why string) {
		if r, ok := a.resource(k); ok && !said[k] {
			said[k] = true
			list = append(list, history.Limit{Resource: r, From: from, Why: why})
		}
	}
	for _, h := range a.holes {
		// One that lasts to the end counts also of a past in which nothing was written.
		if h.limit != nil && (h.until > p.From.Revision || h.until == a.to) && !a.kinds[h.kind].whole {
			l := *h.limit
			if l.From.Revision != 0 && l.From.Revision < p.From.Revision {
				l.From = p.From
			}
			said[h.kind] = true
			list = append(list, l)
		}
	}
	for _, k := range a.order() {
		switch s := a.kinds[k]; {
		case s.begin == 0:
			say(k, history.Moment{}, s.why)
		case s.begin > p.From.Revision && s.begin > a.from:
			say(k, p.Clock.At(s.begin), "it was not watched before")
		case s.missed && s.whole:
			say(k, p.From, between(p.Clock, s.missedFrom, a.to)+": "+s.why)
		}
	}
	for _, h := range a.holes {
		if h.until > p.From.Revision {
			say(h.kind, p.From, between(p.Clock, h.from, h.until)+": "+h.why)
		}
	}
	return list
}

// between says of when nothing is known.
func between(c history.Clock, from, until uint64) string {
	a, b := c.At(from), c.At(until)
	if a.Time == 0 || b.Time == 0 {
		return fmt.Sprintf("nothing is known between revision %d and %d", from, until)
	}
	return fmt.Sprintf("nothing is known between %s and %s", timeText(a.Time), timeText(b.Time))
}

// order are the kinds, sorted.
func (a *annals) order() []kind {
	list := make([]kind, 0, len(a.kinds))
	for k := range a.kinds {
		list = append(list, k)
	}
	slices.SortFunc(list, func(x, y kind) int {
		return cmp.Or(strings.Compare(x.Group, y.Group), strings.Compare(x.Kind, y.Kind))
	})
	return list
}

// resource is the one that serves a kind.
func (a *annals) resource(k kind) (object.Resource, bool) {
	for _, r := range a.served.All() {
		if r.Group == k.Group && r.Kind == k.Kind {
			p, ok := a.served.Preferred(r.GroupResource())
			return p, ok && a.served.Monitored(p) && !history.Ordinary(p) // of others nothing can be lost
		}
	}
	return object.Resource{}, false
}

// missing are the coordinates around what has changed at which nothing was, as lists of all show.
func (a *annals) missing(p *history.Past) []object.Ref {
	list := slices.Clone(a.absent)
	if a.spanned.From.Revision > p.From.Revision {
		list = nil
	}
	limited := map[kind]bool{}
	for _, l := range p.Limits {
		limited[kindOf(l.Resource)] = true
	}
	there := map[place]bool{}
	for _, o := range p.Standing {
		there[placeOf(o.Ref)] = true
	}
	for i := range p.Changes {
		there[placeOf(p.Changes[i].Object.Ref)] = true
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		for _, o := range []*object.Object{c.Old, c.Object} {
			if o == nil {
				continue
			}
			for _, ref := range history.Around(o, p.Resources) {
				r, err := p.Resources.For(ref.APIVersion, ref.Kind)
				if err != nil {
					continue
				}
				ref.Kind = r.Kind
				s := a.kinds[kindOf(r)]
				if s == nil || !s.whole || s.begin > p.From.Revision || limited[kindOf(r)] || there[placeOf(ref)] {
					continue
				}
				there[placeOf(ref)] = true
				list = append(list, ref)
			}
		}
	}
	slices.SortFunc(list, object.Compare)
	return list
}

// place is where an object is stored, whatever its version.
type place struct {
	kind
	namespace, name string
}

func placeOf(r object.Ref) place { return place{kindOfRef(r), r.Namespace, r.Name} }
