package past

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// addGarbageCollector adds what the engine says the garbage collector would have done with the
// object.
func (t *tracer) addGarbageCollector(s *candidates, o *object.Object, left trace) {
	if len(o.Owners) == 0 {
		return
	}
	a, ok := t.collector.Inspect(o.UID)
	if !ok {
		return // its kind is not watched and has no dependents
	}
	if a.Ref.Kind != o.Kind || a.Ref.Namespace != o.Namespace || a.Ref.Name != o.Name {
		t.addUnknownOwner(s, o, left) // another object has the same UID
		return
	}
	d := t.collector.Decide(engine.Lookup(context.Background(), t.state, engine.Upstream, a))
	for _, r := range d.Requests {
		if r.Verb == engine.DeleteObject {
			t.addLastOwner(s, o, left, d, metav1.DeletionPropagation(r.Policy.String()))
			return
		}
	}
	for _, owner := range d.Owners {
		switch {
		case owner.Class == engine.Unresolved && owner.Evidence != engine.NotAsked:
			t.addUnknownOwner(s, o, left)
			t.addOwnerOfDeletedCRD(s, o, owner, left)
		case owner.Class == engine.Existing && t.mayBeGone(owner.Reference.UID) && t.mayLeave(o, left, t.collectorPolicies(o)...):
			s.addPossible(reason.OwnerGone, t.resolve(owner.Ref))
		case owner.Class == engine.Existing && t.mayHaveWaited(owner) && t.mayLeave(o, left, t.collectorPolicies(o)...):
			// It no longer waits, but the delete may have been in flight.
			s.addPossible(reason.OwnerWaits, t.resolve(owner.Ref))
		}
	}
}

// mayBeGone reports whether an object may be gone by now: it was deleted in a range of revisions
// that began before the current change.
func (t *tracer) mayBeGone(uid types.UID) bool {
	c := t.inexact[uid]
	return c != nil && c.After < t.now
}

// addLastOwner adds the owner that was deleted last, because the object lived until then: with
// owners a and b that were removed at revisions 10 and 20, it is b.
func (t *tracer) addLastOwner(s *candidates, o *object.Object, left trace, d engine.Decision, policy metav1.DeletionPropagation) {
	policies := []metav1.DeletionPropagation{policy}
	if t.had[o.UID] != traceOf(o) {
		policies = t.collectorPolicies(o)
	}
	var last *candidate
	sure := !d.Attempt.Virtual // the collector finds objects that it does not watch only occasionally
	for _, owner := range d.Owners {
		if owner.Class != engine.Dangling && owner.Class != engine.Waiting {
			continue
		}
		if t.waited[owner.Reference.UID] {
			// Whether the object had dependents then depends on timing.
			policies = append(policies, t.collectorPolicies(o)...)
		}
		c := t.causeOfOwner(owner)
		if last == nil || c.since > last.since {
			last = &c
		}
		sure = sure && t.isServed(owner.Ref) && !t.refersTooLate(o, owner)
	}
	switch {
	case last == nil:
	case !t.mayLeave(o, left, policies...):
		if last.since == 0 && t.mayLeave(o, left, t.collectorPolicies(o)...) {
			s.addPossible(reason.OwnerWaits, last.By) // the owner may have waited before the history began
		}
	case policy == foreground && left == t.traceAfter(o, background) && t.hadDependents(d.Attempt, last.since):
		s.unlikely = append(s.unlikely, last.Cause)
	case !sure:
		s.addPossible(last.Code, last.By)
	default:
		s.certain = append(s.certain, *last)
	}
}

// hadDependents reports whether an object has dependents that already existed when the reason for
// its deletion began. The collector knows them, unless it is far behind, and deletes them first.
func (t *tracer) hadDependents(a engine.Attempt, since uint64) bool {
	graph := t.collector.Graph()
	for _, id := range graph.Dependents(a.ID) {
		if t.linked[reference{graph.Identity(id).UID, a.Ref.UID}] <= since {
			return true
		}
	}
	return false
}

// refersTooLate reports whether an owner was already waiting when the object began to refer to it.
// The collector does not examine the object then.
func (t *tracer) refersTooLate(o *object.Object, owner engine.OwnerFact) bool {
	if owner.Class != engine.Waiting {
		return false
	}
	_, since := t.deletionBegan(t.resolve(owner.Ref))
	return t.linked[reference{o.UID, owner.Reference.UID}] > since
}

// mayHaveWaited reports whether an owner that does not wait for dependents may have done so before.
func (t *tracer) mayHaveWaited(owner engine.OwnerFact) bool {
	if t.waited[owner.Reference.UID] {
		return true
	}
	if owner.Live == nil || !owner.Live.BeingDeleted() {
		return false
	}
	_, since := t.deletionBegan(owner.Live.Ref)
	return since == 0
}

// causeOfOwner returns the cause that the state of an owner implies.
func (t *tracer) causeOfOwner(owner engine.OwnerFact) candidate {
	ref := t.resolve(owner.Ref)
	c := candidate{Cause{reason.OwnerGone, ref, -1}, 0}
	if i, ok := t.lost[identityOf(ref)]; ok {
		c.Request, c.since = t.losses[i].Cause.Request, t.losses[i].Gone
		if owner.Class == engine.Waiting || c.since == 0 {
			c.since = t.losses[i].Began
		}
	}
	x, _ := t.state.find(ref.Coordinates())
	elsewhere, crosses := t.findInOtherNamespace(ref)
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

// findInOtherNamespace returns the object with the uid and the kind of an owner in a namespace that
// the reference cannot name.
func (t *tracer) findInOtherNamespace(owner object.Ref) (object.Ref, bool) {
	o := t.byUID[owner.UID]
	if o == nil || owner.Namespace == "" || o.Namespace == "" || o.Namespace == owner.Namespace || o.Kind != owner.Kind || o.Group() != owner.Group() {
		return object.Ref{}, false
	}
	return o.Ref, true
}

// resolve returns a reference with the kind, version and namespace of the object that it names.
func (t *tracer) resolve(ref object.Ref) object.Ref {
	at, r, err := t.state.locate(ref)
	if err != nil {
		return ref
	}
	if i, ok := t.lost[identity{at, ref.UID}]; ok {
		return t.losses[i].Object.Ref
	}
	if x, _ := t.state.find(at); x != nil && x.UID == ref.UID {
		return x.Ref
	}
	ref.Kind, ref.Namespace = r.Kind, at.Namespace
	return ref
}

// isServed reports whether the kind of a reference is served. It is not after its CRD is deleted.
// Once the collector has noticed that, it keeps dependents.
func (t *tracer) isServed(ref object.Ref) bool {
	r, err := t.state.resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return false
	}
	definition, _ := t.state.find(definitionOf(r).Coordinates())
	_, went := t.last[definitionOf(r).Coordinates()]
	return definition != nil || !went
}

// addOwnerOfDeletedCRD adds that an unseen owner may have been deleted with its CRD: its instances
// can no longer be read.
func (t *tracer) addOwnerOfDeletedCRD(s *candidates, o *object.Object, owner engine.OwnerFact, left trace) {
	r, err := t.state.resources.For(owner.Ref.APIVersion, owner.Ref.Kind)
	if err != nil || !t.mayLeave(o, left, t.collectorPolicies(o)...) {
		return
	}
	if i, ok := t.last[definitionOf(r).Coordinates()]; ok {
		s.possible = append(s.possible, Cause{reason.OwnerGone, t.resolve(owner.Ref), t.losses[i].Cause.Request})
	}
}

// addUnknownOwner adds that an owner of the object is unknown.
func (t *tracer) addUnknownOwner(s *candidates, o *object.Object, left trace) {
	if !t.mayLeave(o, left, t.collectorPolicies(o)...) {
		return
	}
	for _, ref := range o.Owners {
		at, _, err := t.state.locate(ref.In(o.Namespace))
		if _, known := t.state.find(at); err != nil || !known {
			s.addPossible(reason.OwnerUnknown, t.resolve(ref.In(o.Namespace)))
			return
		}
	}
	s.addPossible(reason.OwnerUnknown, t.resolve(o.Owners[0].In(o.Namespace)))
}
