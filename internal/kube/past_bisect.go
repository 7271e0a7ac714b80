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
	exactDeletions    = 3
	closeEnough       = 16
	maxSearchRequests = 400 // requests for one place
	maxReadsByName    = 8   // up to this number, objects are read one by one
)

// bracket has the objects with a deletion that began or ended between two revisions.
type bracket struct {
	interval
	objects []*deletedObject
}

// narrowDeletions finds out when objects were deleted. All brackets of one round are halved
// together, so that all deletions are known about equally well when the requests are used up.
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
func (l *listsReader) narrowDeletions(ctx context.Context, went []*deletedObject) {
	events := make(map[*deletedObject][]uint64, len(went))
	groups := map[interval][]*deletedObject{}
	for _, g := range went {
		events[g] = l.relatedDeletions(g.Object)
		for _, s := range g.intervals {
			groups[s] = append(groups[s], g)
		}
		g.intervals = nil
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
			if middle == 0 || !l.spendRequests(b.objects) {
				b.close()
				continue
			}
			tasks = append(tasks, func() { halves[i] = l.halve(ctx, b, middle) })
		}
		runLimited(maxSearches, tasks)
		open = slices.Concat(halves...)
	}
	for _, g := range went {
		slices.SortFunc(g.intervals, func(a, b interval) int { return int(a.after) - int(b.after) })
	}
}

// middle returns the revision that halves a bracket; 0 if it is narrow enough. It prefers the last
// revision before an event that the judgement depends on.
func (b *bracket) middle(events map[*deletedObject][]uint64) uint64 {
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
	case b.to-b.after == 1, len(b.objects) > exactDeletions && b.to-b.after <= closeEnough && !b.hasUncreated():
		return 0
	}
	return half
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// hasUncreated reports whether one of the objects did not exist yet at the beginning of a bracket.
// Then the bracket is searched for a state between its creation and its deletion.
func (b *bracket) hasUncreated() bool {
	return slices.ContainsFunc(b.objects, func(g *deletedObject) bool { return g.isUncreated(b.after) })
}

// close keeps the range of a bracket for its objects, unless it begins before their creation.
func (b *bracket) close() {
	for _, g := range b.objects {
		if !g.isUncreated(b.after) {
			g.intervals = append(g.intervals, b.interval)
		}
	}
}

// spendRequests reports whether the budget allows the requests for objects, and charges them to it.
func (l *listsReader) spendRequests(objects []*deletedObject) bool {
	cost := 1
	if len(objects) <= maxReadsByName {
		cost = len(objects)
	}
	if l.requests+cost > maxSearchRequests {
		return false
	}
	l.requests += cost
	return true
}

// halve reads the objects of a bracket at a revision in the middle, and returns the halves with
// changes.
func (l *listsReader) halve(ctx context.Context, b bracket, middle uint64) []bracket {
	then, err := l.statesBy(ctx, l.place, refsOf(b.objects), l.selection(middle), maxReadsByName)
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !Forgotten(err) { // the lists show the state
			l.why = err
		}
		b.close()
		return nil
	}
	early, late := bracket{interval: interval{b.after, middle}}, bracket{interval: interval{middle, b.to}}
	l.mu.Lock() // an object may be in two brackets
	defer l.mu.Unlock()
	for _, g := range b.objects {
		o := then.find(g.Ref)
		if o != nil && o.UID != g.UID {
			o = nil
		}
		g.states[middle] = o
		if g.isUncreated(b.after) {
			switch deletionStage(o) {
			case 0: // its deletion began later
				g.Object, g.presentAt = o, middle
				late.objects = append(late.objects, g)
				continue
			case 1:
				g.presentAt = middle
			case 2: // not created yet
				g.absentAt = middle
			}
		}
		if deletionStage(g.states[b.after]) != deletionStage(o) {
			early.objects = append(early.objects, g)
		}
		if deletionStage(o) != deletionStage(g.states[b.to]) {
			late.objects = append(late.objects, g)
		}
	}
	return slices.DeleteFunc([]bracket{early, late}, func(x bracket) bool { return len(x.objects) == 0 })
}

// relatedDeletions returns the revisions at which an object that o depends on was deleted, or began
// to be.
func (rd *pastReader) relatedDeletions(o *object.Object) []uint64 {
	var revisions []uint64
	for _, ref := range past.RelevantRefs(o, rd.discovery.Load().Resources) {
		revisions = append(revisions, rd.events[ref.Coordinates()]...)
	}
	return revisions
}

// deletionStart is the last revision before the deletion of an object began. namespace is the
// deleted namespace; empty for other objects.
type deletionStart struct {
	revision  uint64
	namespace string
}

// recordDeletions records the revisions that matter for the kinds that are read later.
func (rd *pastReader) recordDeletions(changes []past.Change) {
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
		r := deletionStart{revision: c.Before()}
		if c.Object.Is(object.Namespace) {
			r.namespace = c.Object.Name
		}
		rd.deletionStarts = append(rd.deletionStarts, r)
	}
}

// sameListDistance is the distance in revisions within which deletions share one list.
const sameListDistance = 64

// otherDeletionStarts returns the revisions before deletions of objects that are not namespaces,
// sorted. Of revisions that follow each other closely it returns the first.
func (rd *pastReader) otherDeletionStarts(to uint64) []uint64 {
	var all, some []uint64
	for _, r := range rd.deletionStarts {
		if r.namespace == "" && r.revision >= rd.from && r.revision <= to {
			all = append(all, r.revision)
		}
	}
	slices.Sort(all)
	for _, revision := range all {
		if n := len(some); n == 0 || revision-some[n-1] > sameListDistance {
			some = append(some, revision)
		}
	}
	return some
}
