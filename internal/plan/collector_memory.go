package plan

import (
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// collectorMemory is what a garbage collector that has been running for a while has seen, which no
// snapshot shows. The zero value is a collector that has just started and has observed only its
// first lists.
type collectorMemory struct {
	// waitedBefore contains objects that once waited for their dependents and no longer do. The
	// collector's node keeps that mark forever.
	//
	// Upstream: pkg/controller/garbagecollector/graph.go markDeletingDependents.
	waitedBefore map[types.UID]bool
	// startedDeletions contains objects that are being deleted and that the collector has already
	// processed since then. It processes them again only after a restart. (Q20, Q26)
	//
	// Upstream: pkg/controller/garbagecollector/graph_builder.go deletionStartsWithFinalizer.
	startedDeletions map[types.UID]bool
	// absentOwners lists the owners that the collector once did not find.
	//
	// Upstream: pkg/controller/garbagecollector/uid_cache.go ReferenceCache.
	absentOwners []object.Ref
	// running is true if the collector observed the objects before the user's request. Otherwise it
	// observes only the result of the request.
	running bool
	// description describes the remembered facts, for messages. Empty if there are none and the
	// collector has only been running.
	description string
}

// memoryFact is one fact that a collector may remember.
type memoryFact struct {
	object object.Ref
	addTo  func(*collectorMemory)
}

// memoryFacts are the facts about a part of a snapshot that a running collector may remember,
// unless the snapshot contradicts them.
type memoryFacts struct {
	waitedBefore, startedDeletions, absentOwners []memoryFact
	running                                      bool
}

// possibleFacts returns the facts that a running collector may remember about the objects of a
// part. A collector that has just started, or that does not run, remembers none.
func (s *simulation) possibleFacts(part []*object.Object) memoryFacts {
	if !s.assumedCollector.mayRemember() {
		return memoryFacts{}
	}
	all := memoryFacts{running: s.seed.Verb == RemoveFinalizer}
	there, asked, named := ownerIndex{part: part}, map[object.Ref]bool{}, &object.Object{}
	for _, o := range part {
		uid := o.UID
		switch {
		case awaitsCollector(o):
			all.startedDeletions = append(all.startedDeletions, memoryFact{o.Ref, func(m *collectorMemory) { m.startedDeletions[uid] = true }})
		case o.BeingDeleted():
			all.waitedBefore = append(all.waitedBefore, memoryFact{o.Ref, func(m *collectorMemory) { m.waitedBefore[uid] = true }})
		}
		if object.SameOwners(named.Owners, o.Owners) && named.Namespace == o.Namespace {
			continue // siblings have the same owners
		}
		named = o
		for _, ref := range o.Owners {
			at := s.judge.Locate(ref, o.Namespace)
			if asked[at] || s.options.strict() || !s.isKnownAbsent(ref, at) || there.contains(s.snap, ref, at) {
				continue
			}
			asked[at] = true
			all.absentOwners = append(all.absentOwners, memoryFact{at, func(m *collectorMemory) { m.absentOwners = append(m.absentOwners, at) }})
		}
	}
	return all
}

// ownerIndex finds owners by UID among the objects of a part. It needs an index of the UIDs only for
// owners that are not at the coordinates of their reference.
type ownerIndex struct {
	part []*object.Object
	uids map[types.UID]bool
}

func (p *ownerIndex) contains(snap *snapshot.Snapshot, ref object.OwnerReference, at object.Ref) bool {
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

// isKnownAbsent reports whether an owner that was not found is known not to exist. An owner that may
// merely be missing from the snapshot is unknown in every run.
func (s *simulation) isKnownAbsent(ref object.OwnerReference, at object.Ref) bool {
	r, err := s.recorder.server.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return s.snap.KnowsKindsOf(ref.APIVersion)
	}
	return s.snap.Covers(r, at.Namespace) && s.snap.Doubt(ref.UID) == ""
}

// awaitsCollector reports whether an object is being deleted and has a finalizer of the collector.
func awaitsCollector(o *object.Object) bool {
	return o.BeingDeleted() && o.HandlesDependents()
}

// isEmpty reports whether there are no facts to remember.
func (all memoryFacts) isEmpty() bool {
	return len(all.waitedBefore)+len(all.startedDeletions)+len(all.absentOwners) == 0
}

// memories returns the memories to try: each kind of fact alone, with all facts of the kind, and
// then all kinds together.
func (all memoryFacts) memories() []*collectorMemory {
	var list []*collectorMemory
	kinds := 0
	for _, kind := range []struct {
		things []memoryFact
		what   string
	}{
		{all.waitedBefore, "that it once waited for its dependents: "},
		{all.startedDeletions, "that it has dealt with this deletion before: "},
		{all.absentOwners, "that it once did not find this owner: "},
	} {
		if len(kind.things) == 0 {
			continue
		}
		kinds++
		list = append(list, all.newMemory(kind.what+factNames(kind.things), kind.things))
	}
	if kinds > 1 {
		list = append(list, all.newMemory("more than a snapshot shows", all.waitedBefore, all.startedDeletions, all.absentOwners))
	}
	return list
}

// randomMemory returns a memory with a random selection of the facts.
func (all memoryFacts) randomMemory(random *rand.Rand) *collectorMemory {
	half := func(things []memoryFact) []memoryFact {
		return slices.DeleteFunc(slices.Clone(things), func(memoryFact) bool { return random.IntN(2) == 0 })
	}
	return all.newMemory("more than a snapshot shows", half(all.waitedBefore), half(all.startedDeletions), half(all.absentOwners))
}

// blankMemory returns the memory of a collector that has been running and remembers nothing. It may
// act before the request arrives. nil if the collector has observed everything before the request
// anyway.
func (all memoryFacts) blankMemory() *collectorMemory {
	if !all.running {
		return nil
	}
	return all.newMemory("")
}

// newMemory returns a memory of some facts.
func (all memoryFacts) newMemory(what string, lists ...[]memoryFact) *collectorMemory {
	m := &collectorMemory{description: what, running: all.running, waitedBefore: map[types.UID]bool{}, startedDeletions: map[types.UID]bool{}}
	for _, r := range slices.Concat(lists...) {
		r.addTo(m)
	}
	return m
}

// factNames returns the names of the first few objects.
func factNames(things []memoryFact) string {
	return names(object.Mapped(things, func(r memoryFact) object.Ref { return r.object }))
}

// knownAbsences returns the owners that are remembered as absent.
func (m *collectorMemory) knownAbsences() []object.Ref {
	if m == nil {
		return nil
	}
	return m.absentOwners
}

// eventsFor returns the events through which the collector has learned about an object.
func (m *collectorMemory) eventsFor(o *object.Object) []object.Event {
	switch {
	case m == nil:
	case m.waitedBefore[o.UID]: // it had the foreground finalizer, and has lost it
		before := o.Clone()
		before.Edit().Finalizers = append(slices.Clone(o.Finalizers()), object.Foreground)
		return []object.Event{
			{Type: object.Modified, Old: before, Object: before},
			{Type: object.Modified, Old: before, Object: o},
		}
	case m.startedDeletions[o.UID] && o.HasFinalizer(object.Orphan):
		// Orphaning took precedence when the deletion began, and the object never waited. (Q20)
		before := o.Clone()
		before.Edit().DeletionTimestamp = 0
		return []object.Event{{Type: object.Added, Object: before}, {Type: object.Modified, Old: o, Object: o}}
	case m.startedDeletions[o.UID]:
		return []object.Event{{Type: object.Modified, Old: o, Object: o}}
	}
	return []object.Event{{Type: object.Added, Object: o}}
}
