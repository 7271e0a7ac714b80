package history

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Join is the past of two that follow each other, or overlap, of the same cluster and the same
// namespaces. It knows no more than both: what stood in one of them stands in it only if the
// other shows that, too. It fails where nothing is known of what was between them.
func Join(first, second *Past) (*Past, error) {
	if second.From.Revision < first.From.Revision {
		first, second = second, first
	}
	if second.From.Revision > first.To.Revision {
		return nil, fmt.Errorf("nothing is known of revisions %d to %d", first.To.Revision, second.From.Revision)
	}
	latest := second
	if first.To.Revision > second.To.Revision {
		latest = first
	}
	j := &joint{first: first, second: second, changed: map[place]bool{}}
	limits := j.limits()
	j.forget()
	past := &Past{
		From: first.From, To: latest.To, Resources: latest.Resources, Namespaces: latest.Namespaces,
		Minor: cmp.Or(second.Minor, first.Minor), Timeless: first.Timeless || second.Timeless,
		Clock: NewClock(slices.Concat(first.Clock.ticks, second.Clock.ticks)),
	}
	past.Elsewhere = slices.Concat(first.Elsewhere, second.Elsewhere)
	past.Changes = j.changes()
	past.Standing = j.standing()
	past.Absent = j.absent()
	past.Limits = limits
	return past, nil
}

// joint is a past that is being made of two.
type joint struct {
	first, second *Past
	// changed are the places in which something has changed at some time.
	changed map[place]bool
	// holes are the kinds of which something may have changed unseen after the first past.
	holes map[schema.GroupKind]bool
}

// forget drops what the first past has of kinds with holes: nobody knows what became of it.
func (j *joint) forget() {
	if len(j.holes) == 0 {
		return
	}
	lacks := func(r object.Ref) bool { return j.holes[schema.GroupKind{Group: r.Group(), Kind: r.Kind}] }
	first := *j.first
	first.Changes = slices.DeleteFunc(slices.Clone(first.Changes), func(c Change) bool { return c.Object == nil || lacks(c.Object.Ref) })
	first.Standing = slices.DeleteFunc(slices.Clone(first.Standing), func(o *object.Object) bool { return lacks(o.Ref) })
	first.Absent = slices.DeleteFunc(slices.Clone(first.Absent), lacks)
	j.first = &first
}

// changes are those of both, each once. The first one of a place that does not say what was
// there before is told that by what had stood there.
func (j *joint) changes() []Change {
	type key struct {
		identity
		revision uint64
		kind     object.EventType
	}
	at := map[key]int{}
	all := make([]Change, 0, len(j.first.Changes)+len(j.second.Changes))
	for _, c := range slices.Concat(j.first.Changes, j.second.Changes) {
		if c.Object == nil {
			continue
		}
		k := key{identityOf(c.Object.Ref), c.Revision, c.Type}
		if i, twice := at[k]; twice {
			if all[i].Old == nil {
				all[i].Old = c.Old
			}
			continue
		}
		at[k] = len(all)
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b Change) int { return cmp.Compare(a.Revision, b.Revision) })
	stood := map[identity]*object.Object{}
	for _, o := range j.first.Standing {
		stood[identityOf(o.Ref)] = o
	}
	for i := range all {
		c := &all[i]
		if place := placeOf(c.Object.Ref); !j.changed[place] {
			j.changed[place] = true
			if c.Old == nil && c.Type != object.Added {
				c.Old = stood[identityOf(c.Object.Ref)]
			}
		}
	}
	return all
}

// standing are the objects of one past that did not change in the other.
func (j *joint) standing() []*object.Object {
	var list []*object.Object
	later := map[place]*object.Object{}
	for _, o := range j.second.Standing {
		later[placeOf(o.Ref)] = o
	}
	empty := j.empty()
	done := map[place]bool{}
	for _, o := range j.first.Standing {
		at := placeOf(o.Ref)
		done[at] = true
		same := later[at] == nil && j.second.watched(o.Ref) || later[at] != nil && later[at].UID == o.UID
		if same && !j.changed[at] && !empty[at] {
			list = append(list, o)
		}
	}
	for _, o := range j.second.Standing {
		at := placeOf(o.Ref)
		if !done[at] && !j.changed[at] && !empty[at] && (j.first.watched(o.Ref) || j.first.hadAlready(o)) {
			list = append(list, o)
		}
	}
	return list
}

// absent are the coordinates at which nothing was in one past, and to which nothing came in the
// other.
func (j *joint) absent() []object.Ref {
	var list []object.Ref
	done, filled := map[place]bool{}, map[place]bool{}
	for _, p := range []*Past{j.first, j.second} {
		for _, o := range p.Standing {
			filled[placeOf(o.Ref)] = true
		}
	}
	both := map[place]int{}
	for _, p := range []*Past{j.first, j.second} {
		for _, ref := range p.Absent {
			both[placeOf(ref)]++
		}
	}
	add := func(refs []object.Ref, other *Past) {
		for _, ref := range refs {
			at := placeOf(ref)
			if !done[at] && !j.changed[at] && !filled[at] && (both[at] > 1 || other.watched(ref)) {
				list = append(list, ref)
			}
			done[at] = true
		}
	}
	add(j.first.Absent, j.second)
	add(j.second.Absent, j.first)
	return list
}

// empty are the places at which nothing was in one of the pasts.
func (j *joint) empty() map[place]bool {
	places := map[place]bool{}
	for _, ref := range slices.Concat(j.first.Absent, j.second.Absent) {
		places[placeOf(ref)] = true
	}
	return places
}

// watched reports whether a past has every change of the kind and namespace of an object, so
// that nothing has changed where it shows no change.
func (p *Past) watched(ref object.Ref) bool {
	if p.Resources == nil {
		return false
	}
	r, err := p.Resources.For(ref.APIVersion, ref.Kind)
	switch {
	case err != nil:
		return false
	case !r.Served():
		return true // nothing is ever there
	case !r.Verbs.Has(object.List | object.Watch):
		return false
	}
	if r.Namespaced && p.Namespaces != nil && !slices.Contains(p.Namespaces, ref.Namespace) {
		return false
	}
	return !slices.ContainsFunc(p.Limits, func(l Limit) bool { return l.Resource.Group == r.Group && l.Resource.Kind == r.Kind })
}

// hadAlready reports whether an object was there in its place when a past began, and has not
// been written since.
func (p *Past) hadAlready(o *object.Object) bool {
	n, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	return err == nil && n <= p.From.Revision
}

// limits are what is less known of a kind in one of the pasts, or in both.
func (j *joint) limits() []Limit {
	var order []schema.GroupResource
	worst := [2]map[schema.GroupResource]*Limit{{}, {}}
	seen := map[schema.GroupResource]bool{}
	for n, p := range []*Past{j.first, j.second} {
		for i := range p.Limits {
			l := &p.Limits[i]
			gr := l.Resource.GroupResource()
			if !seen[gr] {
				seen[gr] = true
				order = append(order, gr)
			}
			if was := worst[n][gr]; was == nil || worse(l, was) {
				worst[n][gr] = l
			}
		}
	}
	var list []Limit
	j.holes = map[schema.GroupKind]bool{}
	for _, gr := range order {
		if b := worst[1][gr]; b != nil && j.hole(b) {
			j.holes[schema.GroupKind{Group: b.Resource.Group, Kind: b.Resource.Kind}] = true
		}
		if l, limited := j.limit(worst[0][gr], worst[1][gr]); limited {
			list = append(list, l)
		}
	}
	return list
}

// worse reports whether less is known by one limit than by another.
func worse(a, b *Limit) bool {
	if b.From.Revision == 0 {
		return false
	}
	return a.From.Revision == 0 || a.From.Revision > b.From.Revision
}

// hole reports whether a limit of the second past leaves something out that the first past does
// not have either.
func (j *joint) hole(b *Limit) bool {
	return b.From.Revision <= j.second.From.Revision || b.From.Revision > j.first.To.Revision
}

// limit is what is known of a kind, of which less may be known in the first past, in the second,
// or in both.
func (j *joint) limit(a, b *Limit) (Limit, bool) {
	begin, mid := j.first.From.Revision, j.second.From.Revision
	switch {
	case b == nil && mid <= begin:
		return Limit{}, false // the second past has all of it
	case b == nil && (a.From.Revision == 0 || a.From.Revision > mid):
		return Limit{Resource: a.Resource, From: j.second.From, Listed: a.Listed, Why: a.Why}, true
	case b == nil:
		return *a, true
	case b.From.Revision == 0:
		return *b, true
	case b.From.Revision <= mid: // it has holes
		return Limit{Resource: b.Resource, From: j.first.From, Why: b.Why}, true
	case a == nil && !j.hole(b):
		return Limit{}, false // what the second past lacks is in the first
	default:
		return *b, true
	}
}
