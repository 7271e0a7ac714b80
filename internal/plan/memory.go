package plan

import (
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// memory is what a garbage collector knows that has been running for a while, and that
// no snapshot shows. The zero value is one that has just started: it has seen nothing
// but its first lists.
type memory struct {
	// waited are objects that once waited for their dependents and no longer do. The
	// collector's node keeps that forever.
	//
	// Upstream: pkg/controller/garbagecollector/graph.go markDeletingDependents.
	waited map[types.UID]bool
	// handled are objects whose deletion it has begun with before: only a collector that
	// starts takes them up again. (Q20, Q26)
	//
	// Upstream: pkg/controller/garbagecollector/graph_builder.go deletionStartsWithFinalizer.
	handled map[types.UID]bool
	// absent are owners that it once did not find.
	//
	// Upstream: pkg/controller/garbagecollector/uid_cache.go ReferenceCache.
	absent []object.Ref
	// running: it saw the world before the user's request, of which it otherwise sees
	// what came of it.
	running bool
	// what names the thing that is remembered, for people; empty if nothing is, and it has
	// merely been running.
	what string
}

// recollection is one thing that may be remembered or not.
type recollection struct {
	of   object.Ref
	into func(*memory)
}

// recollections are the things that a collector which runs may remember of a part: as
// far as the snapshot does not speak against it.
type recollections struct {
	waited, handled, absent []recollection
	running                 bool
}

// recollectionsOf looks for what may be remembered of the objects of a part. Our own
// collector starts with the request and remembers nothing.
func (s *simulation) recollectionsOf(part []*object.Object) recollections {
	if s.ourCollector() {
		return recollections{}
	}
	all := recollections{running: s.seed.Verb == RemoveFinalizer}
	there, asked, named := present{part: part}, map[object.Ref]bool{}, &object.Object{}
	for _, o := range part {
		uid := o.UID
		switch {
		case underWay(o):
			all.handled = append(all.handled, recollection{o.Ref, func(m *memory) { m.handled[uid] = true }})
		case o.BeingDeleted():
			all.waited = append(all.waited, recollection{o.Ref, func(m *memory) { m.waited[uid] = true }})
		}
		if object.SameOwners(named.Owners, o.Owners) && named.Namespace == o.Namespace {
			continue // siblings name the same
		}
		named = o
		for _, ref := range o.Owners {
			at := s.judge.Locate(ref, o.Namespace)
			if asked[at] || s.options.strict() || !s.isAbsent(ref, at) || there.has(s.snap, ref, at) {
				continue
			}
			asked[at] = true
			all.absent = append(all.absent, recollection{at, func(m *memory) { m.absent = append(m.absent, at) }})
		}
	}
	return all
}

// present are the uids of the objects of a part, once one is asked for that does not just stand
// where it should: of those that do, the part has the owners.
type present struct {
	part []*object.Object
	uids map[types.UID]bool
}

func (p *present) has(snap *snapshot.Snapshot, ref object.OwnerReference, at object.Ref) bool {
	if o := snap.Find(at.APIVersion, at.Kind, at.Namespace, at.Name); o != nil && o.UID == ref.UID {
		return true
	}
	if p.uids == nil {
		p.uids = make(map[types.UID]bool, len(p.part))
		for _, o := range p.part {
			p.uids[o.UID] = true
		}
	}
	return p.uids[ref.UID]
}

// isAbsent reports whether an owner that is not there does not exist: one that may just
// not have been seen is unknown anyway.
func (s *simulation) isAbsent(ref object.OwnerReference, at object.Ref) bool {
	r, err := s.recorder.server.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return s.snap.KnowsAllKinds()
	}
	return s.snap.Covers(r, at.Namespace) && s.snap.Doubt(ref.UID) == ""
}

// underWay reports whether the collector has to do with a deletion that has begun.
func underWay(o *object.Object) bool {
	return o.BeingDeleted() && o.HandlesDependents()
}

// none reports whether there is nothing to remember.
func (all recollections) none() bool {
	return len(all.waited)+len(all.handled)+len(all.absent) == 0
}

// memories lists what is tried: each kind of thing by itself, as much of it as there may
// be, and then all of it.
func (all recollections) memories() []*memory {
	var list []*memory
	kinds := 0
	for _, kind := range []struct {
		things []recollection
		what   string
	}{
		{all.waited, "that it once waited for its dependents: "},
		{all.handled, "that it has dealt with this deletion before: "},
		{all.absent, "that it once did not find this owner: "},
	} {
		if len(kind.things) == 0 {
			continue
		}
		kinds++
		list = append(list, all.remember(kind.what+someOf(kind.things), kind.things))
	}
	if kinds > 1 {
		list = append(list, all.remember("more than a snapshot shows", all.waited, all.handled, all.absent))
	}
	return list
}

// any is a memory in which each thing may be or not.
func (all recollections) any(random *rand.Rand) *memory {
	half := func(things []recollection) []recollection {
		return slices.DeleteFunc(slices.Clone(things), func(recollection) bool { return random.IntN(2) == 0 })
	}
	return all.remember("more than a snapshot shows", half(all.waited), half(all.handled), half(all.absent))
}

// runs is a memory in which nothing is remembered: of a collector that may be faster than
// the request. It is nil where the request comes to one that has seen everything anyway.
func (all recollections) runs() *memory {
	if !all.running {
		return nil
	}
	return all.remember("")
}

// remember makes a memory of some things. Who remembers anything was running when the
// request came.
func (all recollections) remember(what string, lists ...[]recollection) *memory {
	m := &memory{what: what, running: all.running, waited: map[types.UID]bool{}, handled: map[types.UID]bool{}}
	for _, r := range slices.Concat(lists...) {
		r.into(m)
	}
	return m
}

// someOf names the first few.
func someOf(things []recollection) string {
	refs := make([]report.Ref, 0, len(things))
	for _, r := range things {
		refs = append(refs, report.RefOf(r.of))
	}
	return names(refs)
}

// absences lists the owners that are remembered as absent.
func (m *memory) absences() []object.Ref {
	if m == nil {
		return nil
	}
	return m.absent
}

// seen lists the events by which the collector has come to know of an object.
func (m *memory) seen(o *object.Object) []object.Event {
	switch {
	case m == nil:
	case m.waited[o.UID]:
		before := o.Clone()
		before.Edit().Finalizers = append(slices.Clone(o.Finalizers()), object.Foreground)
		return []object.Event{
			{Type: object.Modified, Old: before, Object: before},
			{Type: object.Modified, Old: before, Object: o},
		}
	case m.handled[o.UID] && o.HasFinalizer(object.Orphan):
		// Orphaning won when the deletion began, and it never waited. (Q20)
		before := o.Clone()
		before.Edit().DeletionTimestamp = 0
		return []object.Event{{Type: object.Added, Object: before}, {Type: object.Modified, Old: o, Object: o}}
	case m.handled[o.UID]:
		return []object.Event{{Type: object.Modified, Old: o, Object: o}}
	}
	return []object.Event{{Type: object.Added, Object: o}}
}
