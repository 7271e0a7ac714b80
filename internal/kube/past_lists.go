package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// readFromLists reads the history of a place from lists of the past, up to revision to, where its
// watch begins. The watch reaches back only a minute or two for a busy kind, and not beyond the
// last start of the server. The storage still serves older lists. An object that one list has and a
// later one lacks was deleted between them:
//
//	lists at    from   before the delete of a namespace   now
//	a           yes    yes                                 -    deleted between the last two
//	b           -      yes                                 -    created, and deleted like a
//
// No such deletion is missed. Further lists narrow down the revision of each. Only objects that
// were created and deleted between two lists are missed, and the limit of the kind says so.
func (rd *pastReader) readFromLists(ctx context.Context, at Place, to uint64) placePast {
	l := &listsReader{pastReader: rd, place: at, lists: rd.listRevisions(at, to)}
	l.readLists(ctx)
	l.lists = slices.DeleteFunc(l.lists, func(x *pastList) bool { return x.err != nil })
	if n := len(l.lists); n == 0 || l.lists[n-1].revision != to || l.lists[0].revision == to && to != rd.from {
		return placePast{why: l.why}
	}
	went := l.findDeleted()
	l.narrowDeletions(ctx, went)
	went = slices.DeleteFunc(went, func(g *deletedObject) bool { return len(g.intervals) == 0 })
	l.readFacts(ctx, went)
	got := placePast{from: l.lists[0].revision, changes: l.changes(went), why: l.why}
	if got.why == nil {
		got.why = fmt.Errorf("%s: the server does not remember which objects were created and deleted before revision %d", at.subject(), to)
	}
	return got
}

// listsReader is one call of readFromLists.
type listsReader struct {
	*pastReader
	place Place
	lists []*pastList
	why   error

	mu sync.Mutex
	// requests counts the requests for narrowing.
	requests int
}

// pastList is one list of the past.
type pastList struct {
	revision uint64
	// namespace limits the list to one namespace; empty means all of the place.
	namespace string
	states    map[types.UID]*object.Object
	err       error
}

func (x *pastList) covers(o *object.Object) bool {
	return x.namespace == "" || x.namespace == o.Namespace
}

// Lists between the beginning and the end find objects that were created since the beginning. They
// are spread evenly, apart from those just before deletions. Namespaces and CRDs are worth more
// lists: deleting one deletes everything in it.
const (
	spreadLists      = 8
	spreadContainers = 32
	// maxOtherStarts is the number of deletions of other objects before which a kind is listed.
	maxOtherStarts = 8
)

// listRevisions returns the first lists of a place, oldest first.
func (rd *pastReader) listRevisions(at Place, to uint64) []*pastList {
	points := map[uint64]*pastList{}
	add := func(revision uint64, namespace string) {
		if revision < rd.from || revision > to {
			return
		}
		if x := points[revision]; x == nil || x.namespace != namespace {
			if x != nil {
				namespace = ""
			}
			points[revision] = &pastList{revision: revision, namespace: namespace}
		}
	}
	add(rd.from, at.Namespace)
	add(to, at.Namespace)
	for _, revision := range rd.crdDeletions[at.Resource.GroupResource()] {
		add(revision, at.Namespace)
	}
	for _, r := range rd.deletionStarts {
		if at.Resource.Namespaced && r.namespace != "" && (at.Namespace == "" || at.Namespace == r.namespace) {
			add(r.revision, r.namespace)
		}
	}
	others := rd.otherDeletionStarts(to)
	for i := range min(maxOtherStarts, len(others)) {
		add(others[i*len(others)/min(maxOtherStarts, len(others))], at.Namespace)
	}
	spread := uint64(spreadLists)
	if at.Resource.HoldsContainers() {
		spread = spreadContainers
	}
	for i := uint64(1); i < spread; i++ {
		add(rd.from+(to-rd.from)*i/spread, at.Namespace)
	}
	return slices.SortedFunc(maps.Values(points), func(a, b *pastList) int { return cmp.Compare(a.revision, b.revision) })
}

// readLists reads the lists. The oldest comes first, because the server forgets it first. If the
// lists of a kind are large, it skips some.
func (l *listsReader) readLists(ctx context.Context) {
	if len(l.lists) == 0 {
		return
	}
	before := l.bytes.Load()
	l.read(ctx, l.lists[0])
	if each := before - l.bytes.Load(); each > 0 {
		l.dropLists(int(max(before/2/each, 2)))
	}
	tasks := make([]func(), 0, len(l.lists))
	for _, x := range l.lists[1:] {
		tasks = append(tasks, func() { l.read(ctx, x) })
	}
	runLimited(maxSearches, tasks)
}

// dropLists keeps at most most lists of the whole place, including the first and the last. Lists of
// one namespace are small and kept.
func (l *listsReader) dropLists(most int) {
	whole := object.Filtered(l.lists, func(x *pastList) bool { return x.namespace == l.place.Namespace })
	if len(whole) <= most {
		return
	}
	keep := map[*pastList]bool{}
	for i := range most {
		keep[whole[i*(len(whole)-1)/(most-1)]] = true
	}
	l.lists = slices.DeleteFunc(l.lists, func(x *pastList) bool { return x.namespace == l.place.Namespace && !keep[x] })
}

// maxSearches is how many lists of the past are read at a time.
const maxSearches = 8

func (l *listsReader) read(ctx context.Context, x *pastList) {
	at := Place{l.place.Resource, cmp.Or(x.namespace, l.place.Namespace)}
	x.states = map[types.UID]*object.Object{}
	x.err = l.listAt(ctx, at, l.selection(x.revision), func(o *object.Object) error {
		if (o.Namespace != "") == at.Resource.Namespaced { // created when its CRD had another scope: there is no path to it
			x.states[o.UID] = o
		}
		return nil
	})
	if x.err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.why = cmp.Or(l.why, x.err)
	}
}

// selection selects metadata only, except for namespaces and CRDs: their facts matter at each
// revision.
func (l *listsReader) selection(revision uint64) Selection {
	return Selection{Revision: revision, Metadata: !l.place.Resource.HoldsContainers()}
}

// deletedObject is an object that a later list lacks, or that began to be deleted. states has what
// was read by revision; nil if the object did not exist.
type deletedObject struct {
	*object.Object
	states map[uint64]*object.Object
	// absentAt and presentAt are the revisions of the lists between which it was created; 0 if the
	// first list has it.
	absentAt, presentAt uint64
	// intervals are the intervals of its changes.
	intervals []interval
}

// isUncreated reports whether revision is the last one that is known to lack an object that is
// created later.
func (g *deletedObject) isUncreated(revision uint64) bool {
	return g.absentAt != 0 && g.absentAt == revision
}

// interval is the interval from one revision to a later one.
type interval struct{ after, to uint64 }

// deletionStage returns the progress of an object's deletion: 0 not deleted, 1 being deleted, 2
// gone.
func deletionStage(o *object.Object) int {
	switch {
	case o == nil:
		return 2
	case o.BeingDeleted():
		return 1
	default:
		return 0
	}
}

// findDeleted finds the objects that were deleted, or began to be deleted, between two lists,
// sorted. It includes those whose first list shows them as being deleted.
func (l *listsReader) findDeleted() []*deletedObject {
	all := map[types.UID]*deletedObject{}
	for _, x := range l.lists {
		for uid, o := range x.states {
			if all[uid] == nil {
				all[uid] = &deletedObject{Object: o, states: map[uint64]*object.Object{}}
			}
		}
	}
	for uid, g := range all {
		before := uint64(0)
		for _, x := range l.lists {
			if !x.covers(g.Object) {
				continue
			}
			o := x.states[uid]
			switch {
			case o == nil && g.presentAt == 0 && len(g.states) == 0: // not created yet
				g.absentAt = x.revision
				continue
			case g.absentAt != 0 && g.presentAt == 0:
				g.presentAt = x.revision
			}
			g.states[x.revision] = o
			if before != 0 && deletionStage(g.states[before]) != deletionStage(o) {
				g.intervals = append(g.intervals, interval{before, x.revision})
			}
			if before = x.revision; o == nil {
				break
			}
		}
		if g.presentAt != 0 && deletionStage(g.states[g.presentAt]) == 1 { // its deletion began before the first list that has it
			g.intervals = append(g.intervals, interval{g.absentAt, g.presentAt})
		}
		if len(g.intervals) == 0 {
			delete(all, uid)
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *deletedObject) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
}

// readFacts reads the facts of spec and status of objects just before their deletion began, if
// their kind has any.
func (l *listsReader) readFacts(ctx context.Context, went []*deletedObject) {
	if !manifest.HasFacts(l.place.Resource.APIVersion(), l.place.Resource.Kind) || l.place.Resource.HoldsContainers() {
		return
	}
	groups := map[uint64][]*deletedObject{}
	for _, g := range went {
		after := g.intervals[0].after
		groups[after] = append(groups[after], g)
	}
	tasks := make([]func(), 0, len(groups))
	for revision, of := range groups {
		tasks = append(tasks, func() {
			then, _ := l.states(ctx, l.place, refsOf(of), revision) // on failure its metadata is still known
			for _, g := range of {
				if o := then.find(g.Ref); o != nil && o.UID == g.UID {
					g.states[revision] = o
				}
			}
		})
	}
	runLimited(maxSearches, tasks)
}

func refsOf(went []*deletedObject) []object.Ref {
	return object.Mapped(went, func(g *deletedObject) object.Ref { return g.Ref })
}

// changes returns the writes that the lists reveal.
func (l *listsReader) changes(went []*deletedObject) []past.Change {
	var changes []past.Change
	for _, g := range went {
		if version, ok := revisionOf(g.Object); ok && g.presentAt != 0 {
			changes = append(changes, past.Change{Revision: max(min(version, g.presentAt), g.absentAt+1), Type: object.Added, Object: g.Object, Unseen: true})
		}
		for _, s := range g.intervals {
			old, now := g.states[s.after], g.states[s.to]
			c := past.Change{Revision: s.to, Type: object.Modified, Object: now, Old: old}
			if now == nil {
				c.Type, c.Object = object.Deleted, old
			}
			if s.to-s.after > 1 {
				c.After = s.after
			}
			changes = append(changes, c)
		}
	}
	slices.SortStableFunc(changes, func(a, b past.Change) int { return cmp.Compare(a.Revision, b.Revision) })
	return changes
}

// crdDeletionsIn returns the last revisions before CRDs began to be deleted, by the resource that
// they define.
func crdDeletionsIn(changes []past.Change) map[schema.GroupResource][]uint64 {
	ends := map[schema.GroupResource][]uint64{}
	begun := map[object.Ref]bool{}
	for i := range changes {
		c := &changes[i]
		crd := c.Object.Definition()
		going := c.Type == object.Deleted || c.Object.BeingDeleted()
		if crd == nil || !going || begun[c.Object.Ref] || c.Old != nil && c.Old.BeingDeleted() {
			continue
		}
		begun[c.Object.Ref] = true
		gr := schema.GroupResource{Group: crd.Group, Resource: crd.Plural}
		ends[gr] = append(ends[gr], c.Before())
	}
	return ends
}

// revisionOf returns the revision of the last write of an object.
func revisionOf(o *object.Object) (uint64, bool) {
	n, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	return n, err == nil
}
