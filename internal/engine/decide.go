package engine

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Disposition is what happens to an attempt after all of its requests succeeded.
type Disposition uint8

const (
	// Forget: done until an event queues the object again.
	Forget Disposition = iota
	// Defer: tried again when the driver wakes it.
	Defer
	// Vanish: the object is gone, even if no watch has said so.
	Vanish
	// Again: tried again at once, on a newer state of the object. Only an economical collector uses
	// it.
	Again
)

// Decision is the result of judging one attempt.
type Decision struct {
	Attempt Attempt
	Reason  reason.Code
	// Owners are the facts that the decision rests on; empty if the object's own state decided.
	Owners []OwnerFact
	// Err is why no decision was possible; nil for a decision.
	Err error
	// Requests are sent in order, until the first failure.
	Requests []Request
	// Blockers are the dependents that a foreground deletion waits for.
	Blockers    []graph.ID
	Disposition Disposition
}

// Verb is the effect of a request.
type Verb uint8

// The verbs of requests.
const (
	// DeleteObject deletes with a policy and preconditions.
	DeleteObject Verb = iota
	// RemoveOwners removes owner references by a patch.
	RemoveOwners
	// Unblock sets blockOwnerDeletion to false by a patch.
	Unblock
	// RemoveFinalizer removes one finalizer by a patch.
	RemoveFinalizer
)

// Request is one intended change, with all that is needed to send it and to handle a conflict. Act
// may send several requests on the wire for it.
type Request struct {
	Verb Verb
	// Reason is that of the decision. Rules are those of the collector. Release is the release that
	// it simulates.
	Reason  reason.Code
	Rules   Rules
	Release release.Rules
	// Pin says which state of the object the request is valid for.
	Pin Pin
	Ref object.Ref
	// Live is the object that the decision rests on. The preconditions of a DELETE come from it.
	Live *object.Object
	// Cached is the object as last observed, nil if it never was. The merge form of a patch is
	// computed from it, as upstream does from its cache.
	Cached *object.Object
	// Policy of a DELETE: Background, Foreground or Orphan.
	Policy Policy
	// UIDs are the owners to which the references are removed.
	UIDs []types.UID
	// Finalizer is the one to remove.
	Finalizer string
	// TolerateAbsence is true if NotFound counts as success.
	TolerateAbsence bool
}

// Pin says which state of its object a request is valid for.
type Pin uint8

// The pins of requests. All but the first are used only with WithEconomy.
const (
	// Unpinned: as upstream, which adds the preconditions that it needs and reads again on a
	// conflict.
	Unpinned Pin = iota
	// PinVersion: for the version that the decision rests on. A conflict is judged again.
	PinVersion
	// PinUID: for the object in any version. It is for the end of orphaning: the reference to the
	// owner is removed by UID, whatever else has changed, and once all dependents are released, the
	// finalizer is removed.
	PinUID
)

// Policy is a propagation policy.
type Policy uint8

// The propagation policies.
const (
	Background Policy = iota
	ForegroundPolicy
	OrphanPolicy
)

// String returns the policy as written in DeleteOptions.
func (p Policy) String() string {
	return string(propagation[p])
}

// Decide judges one attempt. It reads the graph and the facts and writes nothing, so it can be
// called at any time to ask what would happen.
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem,
// processDeletingDependentsItem, orphanDependents, attemptToOrphanWorker.
// Rule: spec §3.8, §3.9, §3.15.
func (c *Collector) Decide(f Facts) Decision { return c.decide(&f) }

func (c *Collector) decide(f *Facts) Decision {
	d := Decision{Attempt: f.Attempt, Disposition: Forget, Requests: f.room}
	c.judge(&d, f)
	pin := f.Attempt.pin()
	for i := range d.Requests {
		r := &d.Requests[i]
		r.Reason, r.Rules, r.Release, r.Pin = d.Reason, c.rules, c.release, pin
	}
	if f.Attempt.Economical {
		d.economise(f)
	}
	return d
}

func (c *Collector) judge(d *Decision, f *Facts) {
	switch a := &d.Attempt; {
	case a.Work == OrphanWork:
		c.decideOrphan(d)
	case a.settledAlready():
		d.Reason = reason.BeingDeleted
	case f.Err != nil:
		d.decideUnread(f.Err)
	case f.Item.UID != a.Ref.UID:
		d.Reason, d.Disposition = reason.UIDMismatch, Vanish
	case a.WaitingForDependents:
		c.decideWaiting(d)
	default:
		c.decideByOwners(d, f)
	}
}

// decideUnread judges an attempt on an object that could not be read.
func (d *Decision) decideUnread(err error) {
	d.Err, d.Disposition = err, Defer
	var uncovered *object.UncoveredError
	var unknown *object.UnknownKindError
	var scope *object.NamespaceRequiredError
	switch {
	case apierrors.IsNotFound(err):
		d.Reason, d.Err, d.Disposition = reason.NotFound, nil, Vanish
	case errors.As(err, &scope):
		d.Reason, d.Disposition = reason.OwnerRefInvalidNamespace, Forget
	case errors.As(err, &uncovered):
		d.Reason = reason.ObjectNotCovered
	case errors.As(err, &unknown):
		d.Reason = reason.UnknownOwnerKind
	default:
		d.Reason = reason.LookupFailed
	}
}

// decideWaiting judges an object in foreground deletion: its finalizer is removed once no node in
// the graph blocks it.
func (c *Collector) decideWaiting(d *Decision) {
	a := &d.Attempt
	d.Disposition = a.done()
	if c.graph.BlockingCount(a.ID) == 0 {
		d.Reason = reason.NoBlockingDependents
		d.Requests = append(d.Requests, Request{Verb: RemoveFinalizer, Ref: a.Ref, Finalizer: object.Foreground, TolerateAbsence: true})
		return
	}
	d.Reason = reason.WaitingForDependents
	c.graph.EachBlocking(a.ID, func(id graph.ID) bool {
		d.Blockers = append(d.Blockers, id)
		return true
	})
}

// decideByOwners judges an object by the classes of its owner references.
func (c *Collector) decideByOwners(d *Decision, f *Facts) {
	a := &d.Attempt
	d.Disposition = a.done()
	if len(f.Owners) == 0 {
		d.Reason = reason.NoOwners
		return
	}
	d.Owners = f.Owners
	sorted := countFacts(f.Owners)
	switch {
	case sorted.unresolved != nil:
		d.decideUnresolved(sorted.unresolved)
	case sorted.solid > 0 && sorted.dangling+sorted.waiting == 0:
		d.Reason = reason.ExistingOwner
	case sorted.solid > 0:
		d.Reason = reason.DanglingReferences
		d.Requests = append(d.Requests, Request{
			Verb: RemoveOwners, Ref: a.Ref, Live: f.Item, Cached: a.cached(), UIDs: loose(f.Owners),
		})
	case sorted.notCovered != nil:
		d.decideUnresolved(sorted.notCovered)
	case sorted.waiting > 0 && c.graph.DependentCount(a.ID) > 0:
		c.decideForeground(d, f)
	default:
		d.Reason = reason.NoExistingOwner
		if sorted.waiting > 0 {
			d.Reason = reason.WaitingOwner
		}
		d.Requests = append(d.Requests, Request{Verb: DeleteObject, Ref: a.Ref, Live: f.Item, Policy: policyOf(f.Item)})
	}
}

// decideForeground deletes an object that has a waiting owner and its own dependents. The
// dependents are deleted first. If one of them waits as well, there may be a cycle: the object
// stops blocking its owners before it is deleted. Like upstream, it does so without a cycle, too.
func (c *Collector) decideForeground(d *Decision, f *Facts) {
	a := &d.Attempt
	d.Reason = reason.WaitingOwner
	if c.anyDependentWaits(a.ID) {
		d.Reason = reason.WaitingOwnerInCycle
		d.Requests = append(d.Requests, Request{Verb: Unblock, Ref: a.Ref, Live: f.Item, Cached: a.cached()})
	}
	d.Requests = append(d.Requests, Request{Verb: DeleteObject, Ref: a.Ref, Live: f.Item, Policy: ForegroundPolicy})
}

func (c *Collector) anyDependentWaits(id graph.ID) bool {
	found := false
	c.graph.EachDependent(id, func(d graph.ID) bool {
		found = c.graph.WaitingForDependents(d)
		return !found
	})
	return found
}

// decideUnresolved keeps an object with an owner that cannot be resolved.
func (d *Decision) decideUnresolved(o *OwnerFact) {
	d.Err, d.Disposition = o.Err, Defer
	switch o.Evidence {
	case NeedsNamespace:
		d.Reason, d.Disposition = reason.OwnerRefInvalidNamespace, Forget
	case KindNotServed:
		d.Reason = reason.UnknownOwnerKind
	case NotCovered:
		d.Reason = reason.OwnerNotCovered
	case NotServed, Elsewhere, StillObserved:
		d.Reason = reason.AbsenceNotProven
	default:
		d.Reason = reason.LookupFailed
	}
}

// decideOrphan removes the reference to the owner from all dependents in the graph, then the
// owner's finalizer.
func (c *Collector) decideOrphan(d *Decision) {
	a := &d.Attempt
	d.Reason = reason.OrphanDependents
	d.Requests = make([]Request, 0, c.graph.DependentCount(a.ID)+1)
	uids := []types.UID{a.Ref.UID}
	c.graph.EachDependent(a.ID, func(id graph.ID) bool {
		o := c.graph.Object(id)
		d.Requests = append(d.Requests, Request{
			Verb: RemoveOwners, Ref: o.Ref, Live: o, Cached: o, UIDs: uids, TolerateAbsence: true,
		})
		return true
	})
	d.Requests = append(d.Requests, Request{Verb: RemoveFinalizer, Ref: a.Ref, Finalizer: object.Orphan, TolerateAbsence: true})
}

// done returns the disposition of a successful attempt. A virtual node is tried again until a watch
// shows it.
func (a *Attempt) done() Disposition {
	if a.Virtual {
		return Defer
	}
	return Forget
}

func (a *Attempt) cached() *object.Object {
	if a.Virtual {
		return nil
	}
	return a.Observed
}

// policyOf returns the policy that the finalizers of an object request.
func policyOf(o *object.Object) Policy {
	switch {
	case o.HasFinalizer(object.Orphan):
		return OrphanPolicy
	case o.HasFinalizer(object.Foreground):
		return ForegroundPolicy
	default:
		return Background
	}
}

// countedFacts are the numbers of owner facts by class. A reference that is not covered doesn't
// affect the others: one existing owner is enough to keep the object.
type countedFacts struct {
	solid, dangling, waiting int
	// The first one that could not be resolved, and the last one that is not covered.
	unresolved, notCovered *OwnerFact
}

func countFacts(owners []OwnerFact) countedFacts {
	var s countedFacts
	for i := range owners {
		o := &owners[i]
		switch o.Class {
		case Existing:
			s.solid++
		case Dangling:
			s.dangling++
		case Waiting:
			s.waiting++
		case Unresolved:
			if o.Evidence == NotCovered {
				s.notCovered = o
			} else if s.unresolved == nil {
				s.unresolved = o
			}
		}
	}
	return s
}

// loose returns the UIDs of the owners that don't keep the object: the dangling ones, then the
// waiting ones.
func loose(owners []OwnerFact) []types.UID {
	var uids []types.UID
	for _, class := range []Class{Dangling, Waiting} {
		for i := range owners {
			if owners[i].Class == class {
				uids = append(uids, owners[i].Reference.UID)
			}
		}
	}
	return uids
}
