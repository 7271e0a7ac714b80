package evidence

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Surroundings are what is known of those who act beside the collector. They remember
// what they have judged: use them from one goroutine at a time.
type Surroundings struct {
	snap *snapshot.Snapshot
	seen *World
	now  int64

	// nodes tells that there is one: a world without any says nothing about nodes.
	nodes bool
	// nodesSeen and nodeLeases are found by the names of nodes.
	nodesSeen  map[string]*Node
	nodeLeases map[string]*Lease
	shown      map[object.Ref]*Terminating
	consumers  map[object.Ref]*Consumer
	// wanted is how many pods a workload wants; nil until it is asked for.
	wanted map[object.Ref]int
	// managerLease is that of kube-controller-manager; nil if it was not seen. managerless tells that
	// there is none: that a dump has no leases at all says more of the dump, for every API server
	// has one. stands is what ManagerStands has found.
	managerLease *Lease
	managerless  bool
	stands       *report.ControllerVerdict
	// attached is nil if nothing is; evictions are those of nodes, nil until they are asked for.
	attached  *attachments
	evictions map[string][]Eviction

	reach *reach
	// deaf are the webhooks that no one answers for, and whose failure counts.
	deaf []*Webhook
	// guards are the admission policies that could refuse a write.
	guards []guard
	// marked tells that an object has a label by which webhooks refuse its delete.
	marked bool
	// mute are the definitions whose conversion webhook nobody answers for.
	mute     []*Definition
	rights   *rights
	programs *programs
	// candidates are the pods and workloads that may remove a finalizer, by what decides that.
	candidates map[question]*candidates
	// ofKind are the objects of the snapshot; nil until it is asked for.
	ofKind map[schema.GroupKind][]*object.Object
	// recognized are the controllers of the table that pods belong to.
	recognized map[*Pod]*finalizer.Controller
}

// New are the surroundings of a snapshot as the evidence shows them, which may be nil:
// nothing is known then. The evidence must not change while they are in use. now is
// when it was looked at, in seconds since 1970, and 0 when that is not known: nothing
// is said then to have expired or to take long.
func New(snap *snapshot.Snapshot, seen *World, now int64) *Surroundings {
	s := &Surroundings{
		snap: snap, seen: seen.Sorted(), now: now,
		nodesSeen: map[string]*Node{}, nodeLeases: map[string]*Lease{}, shown: map[object.Ref]*Terminating{},
		candidates: map[question]*candidates{}, recognized: map[*Pod]*finalizer.Controller{},
	}
	for _, o := range snap.Objects {
		if o.Kind == object.Node.Resource().Kind && o.Group() == "" {
			s.nodes = true
			break
		}
	}
	s.reach, s.rights, s.programs = newReach(snap, s.seen), newRights(s.seen), newPrograms(s.seen)
	if s.seen == nil {
		return s
	}
	s.deaf, s.mute, s.guards = s.reach.deafOf(s.seen), s.reach.muteOf(s.seen), guardsOf(s.seen)
	s.consumers = s.consumersOf(s.seen)
	if len(s.seen.Attachments) > 0 {
		s.attached = s.attachmentsOf(s.seen)
	}
	s.marked = slices.ContainsFunc(snap.Objects, marked)
	for n := range s.seen.Terminating {
		t := &s.seen.Terminating[n]
		s.shown[s.Known(t.Ref)] = t
	}
	for n := range s.seen.Nodes {
		s.nodesSeen[s.seen.Nodes[n].Name] = &s.seen.Nodes[n]
	}
	beside := false
	for n := range s.seen.Leases {
		switch l := &s.seen.Leases[n]; {
		case l.Namespace == "kube-node-lease":
			s.nodeLeases[l.Name] = l
		case l.Namespace == object.ManagerLease.Namespace && l.Name == object.ManagerLease.Name:
			s.managerLease = l
		case l.Namespace == object.ManagerLease.Namespace:
			beside = true
		}
	}
	s.managerless = s.managerLease == nil && (s.seen.managerless || beside && s.seen.Sight(Leases, object.ManagerLease.Namespace).Whole)
	return s
}

// Evidence is what they are judged from, sorted; nil when there is none. It must not
// be changed.
func (s *Surroundings) Evidence() *World { return s.seen }

// Known is the reference that the snapshot has for an object: the evidence may have
// been read in another version.
func (s *Surroundings) Known(ref object.Ref) object.Ref {
	r, err := s.snap.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return ref
	}
	if p, ok := s.snap.Resources.Preferred(r.GroupResource()); ok {
		ref.APIVersion = p.APIVersion()
	}
	if o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
		return o.Ref
	}
	return ref
}

// Shown is what an object that is being deleted shows of itself; nil when that was not
// seen.
func (s *Surroundings) Shown(o *object.Object) *Terminating { return s.shown[o.Ref] }

// Patience is how long, in seconds, deleters that need no one else may take before they
// count as not working: the collector takes seconds, the back-off of the namespace
// controller a few minutes.
const Patience = 300

// Overdue reports whether whoever needs no one else should long have been done with an
// object that is being deleted.
func (s *Surroundings) Overdue(o *object.Object) bool { return s.Age(o) > Patience }

// Recent reports whether an object may have been made so lately that nobody is late with
// it.
func (s *Surroundings) Recent(o *object.Object) bool {
	return o.Created != 0 && s.now-o.Created <= Patience
}

// Age is how long an object has been being deleted, in seconds; negative while a grace
// period runs, and 0 where the time is not known, or the object is yet to be deleted.
func (s *Surroundings) Age(o *object.Object) int64 {
	if s.now == 0 || !o.BeingDeleted() {
		return 0
	}
	return s.now - o.DeletionTimestamp()
}
