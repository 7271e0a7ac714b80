package past

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// byCollector adds what the engine says the garbage collector would have done with the object.
func (t *tracer) byCollector(s *suspects, o *object.Object, left trace) {
	if len(o.Owners) == 0 {
		return
	}
	a, ok := t.collector.Inspect(o.UID)
	if !ok {
		return // its kind is not watched and has no dependents
	}
	if a.Ref.Kind != o.Kind || a.Ref.Namespace != o.Namespace || a.Ref.Name != o.Name {
		t.suspectOwners(s, o, left) // another object has the same UID
		return
	}
	d := t.collector.Decide(engine.Lookup(context.Background(), t.world, engine.Upstream, a))
	for _, r := range d.Requests {
		if r.Verb == engine.DeleteObject {
			t.collected(s, o, left, d, metav1.DeletionPropagation(r.Policy.String()))
			return
		}
	}
	for _, owner := range d.Owners {
		switch {
		case owner.Class == engine.Unresolved && owner.Evidence != engine.NotAsked:
			t.suspectOwners(s, o, left)
			t.suspectDefinition(s, o, owner, left)
		case owner.Class == engine.Existing && t.mayBeGone(owner.Reference.UID) && t.leaves(o, left, t.ofCollector(o)...):
			s.suspect(reason.OwnerGone, t.named(owner.Ref))
		case owner.Class == engine.Existing && t.hasWaited(owner) && t.leaves(o, left, t.ofCollector(o)...):
			// It no longer waits, but the delete may have been in flight.
			s.suspect(reason.OwnerWaits, t.named(owner.Ref))
		}
	}
}

// mayBeGone reports whether an object may be gone by now: it was deleted in a range of revisions
// that began before the current change.
func (t *tracer) mayBeGone(uid types.UID) bool {
	c := t.vague[uid]
	return c != nil && c.After < t.now
}

// collected adds the owner that was deleted last, because the object lived until then: with owners
// a and b that were removed at revisions 10 and 20, it is b.
func (t *tracer) collected(s *suspects, o *object.Object, left trace, d engine.Decision, policy metav1.DeletionPropagation) {
	policies := []metav1.DeletionPropagation{policy}
	if t.had[o.UID] != traceOf(o) {
		policies = t.ofCollector(o)
	}
	var last *candidate
	sure := !d.Attempt.Virtual // the collector finds objects that it does not watch only occasionally
	for _, owner := range d.Owners {
		if owner.Class != engine.Dangling && owner.Class != engine.Waiting {
			continue
		}
		if t.waited[owner.Reference.UID] {
			// Whether the object had dependents then depends on timing.
			policies = append(policies, t.ofCollector(o)...)
		}
		c := t.reasonOf(owner)
		if last == nil || c.since > last.since {
			last = &c
		}
		sure = sure && t.serves(owner.Ref) && !t.late(o, owner)
	}
	switch {
	case last == nil:
	case !t.leaves(o, left, policies...):
		if last.since == 0 && t.leaves(o, left, t.ofCollector(o)...) {
			s.suspect(reason.OwnerWaits, last.By) // the owner may have waited before the history began
		}
	case policy == foreground && left == t.traceAfter(o, background) && t.burdened(d.Attempt, last.since):
		s.unlikely = append(s.unlikely, last.Cause)
	case !sure:
		s.suspect(last.Code, last.By)
	default:
		s.would = append(s.would, *last)
	}
}

// burdened reports whether an object has dependents that already existed when the reason for its
// deletion began. The collector knows them, unless it is far behind, and deletes them first.
func (t *tracer) burdened(a engine.Attempt, since uint64) bool {
	graph := t.collector.Graph()
	for _, id := range graph.Dependents(a.ID) {
		if t.linked[reference{graph.Identity(id).UID, a.Ref.UID}] <= since {
			return true
		}
	}
	return false
}

// late reports whether an owner was already waiting when the object began to refer to it. The
// collector does not examine the object then.
func (t *tracer) late(o *object.Object, owner engine.OwnerFact) bool {
	if owner.Class != engine.Waiting {
		return false
	}
	_, since := t.began(t.named(owner.Ref))
	return t.linked[reference{o.UID, owner.Reference.UID}] > since
}

// hasWaited reports whether an owner that does not wait for dependents may have done so before.
func (t *tracer) hasWaited(owner engine.OwnerFact) bool {
	if t.waited[owner.Reference.UID] {
		return true
	}
	if owner.Live == nil || !owner.Live.BeingDeleted() {
		return false
	}
	_, since := t.began(owner.Live.Ref)
	return since == 0
}

// reasonOf returns the cause that the state of an owner implies.
func (t *tracer) reasonOf(owner engine.OwnerFact) candidate {
	ref := t.named(owner.Ref)
	c := candidate{Cause{reason.OwnerGone, ref, -1}, 0}
	if i, ok := t.lost[identityOf(ref)]; ok {
		c.Request, c.since = t.losses[i].Cause.Request, t.losses[i].Gone
		if owner.Class == engine.Waiting || c.since == 0 {
			c.since = t.losses[i].Asked
		}
	}
	x, _ := t.world.find(ref.Coordinates())
	elsewhere, crosses := t.elsewhere(ref)
	switch {
	case crosses && (x == nil || x.UID != ref.UID):
		c = candidate{Cause{reason.OwnerNamespaceMismatch, elsewhere, -1}, 0}
	case owner.Class == engine.Waiting:
		c.Code = reason.OwnerWaits
	case x != nil && x.UID != ref.UID:
		c.Code = reason.OwnerReplaced
	}
	return c
}

// elsewhere returns the object with the uid and the kind of an owner in a namespace that the
// reference cannot name.
func (t *tracer) elsewhere(owner object.Ref) (object.Ref, bool) {
	o := t.byUID[owner.UID]
	if o == nil || owner.Namespace == "" || o.Namespace == "" || o.Namespace == owner.Namespace || o.Kind != owner.Kind || o.Group() != owner.Group() {
		return object.Ref{}, false
	}
	return o.Ref, true
}

// named returns a reference with the kind, version and namespace of the object that it names.
func (t *tracer) named(ref object.Ref) object.Ref {
	at, r, err := t.world.locate(ref)
	if err != nil {
		return ref
	}
	if i, ok := t.lost[identity{at, ref.UID}]; ok {
		return t.losses[i].Object.Ref
	}
	if x, _ := t.world.find(at); x != nil && x.UID == ref.UID {
		return x.Ref
	}
	ref.Kind, ref.Namespace = r.Kind, at.Namespace
	return ref
}

// serves reports whether the kind of a reference is served. It is not after its CRD is deleted.
// Once the collector has noticed that, it keeps dependents.
func (t *tracer) serves(ref object.Ref) bool {
	r, err := t.world.resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return false
	}
	definition, _ := t.world.find(definitionOf(r).Coordinates())
	_, went := t.last[definitionOf(r).Coordinates()]
	return definition != nil || !went
}

// suspectDefinition adds that an unseen owner may have been deleted with its CRD: its instances can
// no longer be read.
func (t *tracer) suspectDefinition(s *suspects, o *object.Object, owner engine.OwnerFact, left trace) {
	r, err := t.world.resources.For(owner.Ref.APIVersion, owner.Ref.Kind)
	if err != nil || !t.leaves(o, left, t.ofCollector(o)...) {
		return
	}
	if i, ok := t.last[definitionOf(r).Coordinates()]; ok {
		s.might = append(s.might, Cause{reason.OwnerGone, t.named(owner.Ref), t.losses[i].Cause.Request})
	}
}

// suspectOwners adds that an owner of the object is unknown.
func (t *tracer) suspectOwners(s *suspects, o *object.Object, left trace) {
	if !t.leaves(o, left, t.ofCollector(o)...) {
		return
	}
	for _, ref := range o.Owners {
		at, _, err := t.world.locate(ref.In(o.Namespace))
		if _, known := t.world.find(at); err != nil || !known {
			s.suspect(reason.OwnerUnknown, t.named(ref.In(o.Namespace)))
			return
		}
	}
	s.suspect(reason.OwnerUnknown, t.named(o.Owners[0].In(o.Namespace)))
}
