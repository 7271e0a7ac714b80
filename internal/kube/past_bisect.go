package kube

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// The precision of deletions. For few objects the exact revision is found. For many that are
// deleted together a small range is enough: all of them are judged alike, because no change of an
// owner, a namespace or a CRD is within the range.
const (
	fewGoing  = 3
	closely   = 16
	mostAsked = 400 // requests for one place
	single    = 8   // up to this number, objects are read one by one
)

// bracket has the objects with a deletion that began or ended between two revisions.
type bracket struct {
	span
	objects []*leaving
}

// narrow finds out when objects were deleted. All brackets of one round are halved together, so
// that all deletions are known about equally well when the requests are used up.
//
//	list at     100         200   300   400
//	a, b exist  a b                -     -
//	narrowed    a b    150: a      -          b was deleted after 100, a after 150
//
// An object that the first list with it shows as being deleted is searched for in the same way,
// from the list before:
//
//	list at     100                     200
//	c           -                       being deleted
//	narrowed    -      150: exists                     c began to be deleted after 150
func (l *lateReader) narrow(ctx context.Context, went []*leaving) {
	events := make(map[*leaving][]uint64, len(went))
	groups := map[span][]*leaving{}
	for _, g := range went {
		events[g] = l.eventsAround(g.Object)
		for _, s := range g.spans {
			groups[s] = append(groups[s], g)
		}
		g.spans = nil
	}
	var open []bracket
	for s, objects := range groups {
		open = append(open, bracket{s, objects})
	}
	for len(open) > 0 {
		slices.SortFunc(open, func(a, b bracket) int { return int(a.after) - int(b.after) })
		halves := make([][]bracket, len(open))
		var tasks []func()
		for i, b := range open {
			middle := b.middle(events)
			if middle == 0 || !l.mayAsk(b.objects) {
				b.close()
				continue
			}
			tasks = append(tasks, func() { halves[i] = l.halve(ctx, b, middle) })
		}
		atMost(searches, tasks)
		open = slices.Concat(halves...)
	}
	for _, g := range went {
		slices.SortFunc(g.spans, func(a, b span) int { return int(a.after) - int(b.after) })
	}
}

// middle returns the revision that halves a bracket; 0 if it is narrow enough. It prefers the last
// revision before an event that the judgement depends on.
func (b *bracket) middle(events map[*leaving][]uint64) uint64 {
	half := b.after + (b.to-b.after)/2
	best := uint64(0)
	for _, g := range b.objects {
		for _, e := range events[g] {
			if e > b.after+1 && e <= b.to && (best == 0 || distance(e-1, half) < distance(best, half)) {
				best = e - 1
			}
		}
	}
	switch {
	case best != 0:
		return best
	case b.to-b.after == 1, len(b.objects) > fewGoing && b.to-b.after <= closely && !b.hasUncreated():
		return 0
	}
	return half
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// hasUncreated reports whether one of the objects did not exist yet at the beginning of a bracket.
// Then the bracket is searched for a state between its creation and its deletion.
func (b *bracket) hasUncreated() bool {
	return slices.ContainsFunc(b.objects, func(g *leaving) bool { return g.isUncreated(b.after) })
}

// close keeps the range of a bracket for its objects, unless it begins before their creation.
func (b *bracket) close() {
	for _, g := range b.objects {
		if !g.isUncreated(b.after) {
			g.spans = append(g.spans, b.span)
		}
	}
}

// mayAsk reports whether the budget allows the requests for objects, and charges them to it.
func (l *lateReader) mayAsk(objects []*leaving) bool {
	cost := 1
	if len(objects) <= single {
		cost = len(objects)
	}
	if l.asked+cost > mostAsked {
		return false
	}
	l.asked += cost
	return true
}

// halve reads the objects of a bracket at a revision in the middle, and returns the halves with
// changes.
func (l *lateReader) halve(ctx context.Context, b bracket, middle uint64) []bracket {
	then, err := l.statesBy(ctx, l.place, refsOf(b.objects), l.selection(middle), single)
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !Forgotten(err) { // the lists show the state
			l.why = err
		}
		b.close()
		return nil
	}
	early, late := bracket{span: span{b.after, middle}}, bracket{span: span{middle, b.to}}
	l.mu.Lock() // an object may be in two brackets
	defer l.mu.Unlock()
	for _, g := range b.objects {
		o := then.of(g.Ref)
		if o != nil && o.UID != g.UID {
			o = nil
		}
		g.states[middle] = o
		if g.isUncreated(b.after) {
			switch stage(o) {
			case 0: // its deletion began later
				g.Object, g.came = o, middle
				late.objects = append(late.objects, g)
				continue
			case 1:
				g.came = middle
			case 2: // not created yet
				g.lacked = middle
			}
		}
		if stage(g.states[b.after]) != stage(o) {
			early.objects = append(early.objects, g)
		}
		if stage(o) != stage(g.states[b.to]) {
			late.objects = append(late.objects, g)
		}
	}
	return slices.DeleteFunc([]bracket{early, late}, func(x bracket) bool { return len(x.objects) == 0 })
}

// eventsAround returns the revisions at which an object that o depends on was deleted, or began to
// be.
func (rd *pastReader) eventsAround(o *object.Object) []uint64 {
	var revisions []uint64
	for _, ref := range past.RelevantRefs(o, rd.discovery.Load().Resources) {
		revisions = append(revisions, rd.events[ref.Coordinates()]...)
	}
	return revisions
}

// root is the last revision before the deletion of an object began. namespace is the deleted
// namespace; empty for other objects.
type root struct {
	revision  uint64
	namespace string
}

// note records the revisions that matter for the kinds that are read later.
func (rd *pastReader) note(changes []past.Change) {
	for i := range changes {
		c := &changes[i]
		if c.Type != object.Deleted && !c.Object.BeingDeleted() {
			continue
		}
		at := c.Object.Ref.Coordinates()
		rd.events[at] = append(rd.events[at], c.Before()+1, c.Revision)
		if c.Old != nil && c.Old.BeingDeleted() {
			continue
		}
		r := root{revision: c.Before()}
		if c.Object.Is(object.Namespace) {
			r.namespace = c.Object.Name
		}
		rd.roots = append(rd.roots, r)
	}
}

// together is the distance in revisions within which deletions share one list.
const together = 64

// otherRoots returns the revisions before deletions of objects that are not namespaces, sorted. Of
// revisions that follow each other closely it returns the first.
func (rd *pastReader) otherRoots(to uint64) []uint64 {
	var all, some []uint64
	for _, r := range rd.roots {
		if r.namespace == "" && r.revision >= rd.from && r.revision <= to {
			all = append(all, r.revision)
		}
	}
	slices.Sort(all)
	for _, revision := range all {
		if n := len(some); n == 0 || revision-some[n-1] > together {
			some = append(some, revision)
		}
	}
	return some
}
