package engine

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Decide judges one attempt. It reads the graph and the facts and writes
// nothing, so it may be called at any time to ask what would be done.
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem,
// processDeletingDependentsItem, orphanDependents, attemptToOrphanWorker.
// Rule: spec §3.8, §3.9, §3.15.
func (c *Collector) Decide(f Facts) Decision {
	d := c.judge(f)
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

func (c *Collector) judge(f Facts) Decision {
	a := f.Attempt
	switch {
	case a.Work == OrphanWork:
		return c.decideOrphan(a)
	case a.settledAlready():
		return Decision{Attempt: a, Reason: reason.BeingDeleted}
	case f.Err != nil:
		return c.decideUnread(f)
	case f.Item.UID != a.Ref.UID:
		return Decision{Attempt: a, Reason: reason.UIDMismatch, Disposition: Vanish}
	case a.WaitingForDependents:
		return c.decideWaiting(f)
	default:
		return c.decideByOwners(f)
	}
}

// decideUnread judges an attempt whose object could not be read.
func (c *Collector) decideUnread(f Facts) Decision {
	d := Decision{Attempt: f.Attempt, Err: f.Err, Disposition: Defer}
	var uncovered *object.UncoveredError
	var unknown *object.UnknownKindError
	var scope *object.NamespaceRequiredError
	switch {
	case apierrors.IsNotFound(f.Err):
		d.Reason, d.Err, d.Disposition = reason.NotFound, nil, Vanish
	case errors.As(f.Err, &scope):
		d.Reason, d.Disposition = reason.OwnerRefInvalidNamespace, Forget
	case errors.As(f.Err, &uncovered):
		d.Reason = reason.ObjectNotCovered
	case errors.As(f.Err, &unknown):
		d.Reason = reason.UnknownOwnerKind
	default:
		d.Reason = reason.LookupFailed
	}
	return d
}

// decideWaiting judges an object that is being deleted in the foreground: its
// finalizer goes once nothing in the graph blocks it.
func (c *Collector) decideWaiting(f Facts) Decision {
	a := f.Attempt
	if c.graph.BlockingCount(a.ID) == 0 {
		return Decision{Attempt: a, Reason: reason.NoBlockingDependents, Disposition: c.done(a), Requests: []Request{
			{Verb: RemoveFinalizer, Ref: a.Ref, Finalizer: object.Foreground, TolerateAbsence: true},
		}}
	}
	d := Decision{Attempt: a, Reason: reason.WaitingForDependents, Disposition: c.done(a)}
	c.graph.EachBlocking(a.ID, func(id graph.ID) bool {
		d.Blockers = append(d.Blockers, id)
		return true
	})
	return d
}

// decideByOwners judges an object by what its owner references count as.
func (c *Collector) decideByOwners(f Facts) Decision {
	a := f.Attempt
	d := Decision{Attempt: a, Owners: f.Owners, Disposition: c.done(a)}
	if len(f.Owners) == 0 {
		d.Reason = reason.NoOwners
		return d
	}
	sorted := sortFacts(f.Owners)
	if sorted.unresolved != nil {
		return c.decideUnresolved(d, sorted.unresolved)
	}
	switch {
	case sorted.solid > 0 && len(sorted.dangling)+len(sorted.waiting) == 0:
		d.Reason = reason.ExistingOwner
	case sorted.solid > 0:
		d.Reason = reason.DanglingReferences
		d.Requests = []Request{{
			Verb: RemoveOwners, Ref: a.Ref, Live: f.Item, Cached: c.cached(a),
			UIDs: append(sorted.dangling, sorted.waiting...),
		}}
	case sorted.notCovered != nil:
		return c.decideUnresolved(d, sorted.notCovered)
	case len(sorted.waiting) > 0 && c.graph.DependentCount(a.ID) > 0:
		c.decideForeground(&d, f)
	default:
		d.Reason = reason.NoExistingOwner
		if len(sorted.waiting) > 0 {
			d.Reason = reason.WaitingOwner
		}
		d.Requests = []Request{{Verb: DeleteObject, Ref: a.Ref, Live: f.Item, Policy: policyOf(f.Item)}}
	}
	return d
}

// decideForeground deletes an object that stands between a waiting owner and
// dependents of its own: they go first. If one of them waits as well there may be
// a cycle, and the object stops blocking its owners before it is deleted. False
// alarms are upstream's, too.
func (c *Collector) decideForeground(d *Decision, f Facts) {
	a := f.Attempt
	d.Reason = reason.WaitingOwner
	if c.anyDependentWaits(a.ID) {
		d.Reason = reason.WaitingOwnerInCycle
		d.Requests = append(d.Requests, Request{Verb: Unblock, Ref: a.Ref, Live: f.Item, Cached: c.cached(a)})
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

// decideUnresolved keeps an object of whose owners one cannot be resolved.
func (c *Collector) decideUnresolved(d Decision, o *OwnerFact) Decision {
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
	return d
}

// decideOrphan releases all dependents that the graph knows, then the owner.
func (c *Collector) decideOrphan(a Attempt) Decision {
	d := Decision{
		Attempt: a, Reason: reason.OrphanDependents,
		Requests: make([]Request, 0, c.graph.DependentCount(a.ID)+1),
	}
	uids := []types.UID{a.Ref.UID}
	c.graph.EachDependent(a.ID, func(id graph.ID) bool {
		o := c.graph.Object(id)
		d.Requests = append(d.Requests, Request{
			Verb: RemoveOwners, Ref: o.Ref, Live: o, Cached: o, UIDs: uids, TolerateAbsence: true,
		})
		return true
	})
	d.Requests = append(d.Requests, Request{Verb: RemoveFinalizer, Ref: a.Ref, Finalizer: object.Orphan, TolerateAbsence: true})
	return d
}

// done is the disposition of an attempt that succeeded: a virtual node is asked for
// again until a watch shows it.
func (c *Collector) done(a Attempt) Disposition {
	if a.Virtual {
		return Defer
	}
	return Forget
}

func (c *Collector) cached(a Attempt) *object.Object {
	if a.Virtual {
		return nil
	}
	return a.Observed
}

// policyOf is the policy that the finalizers of an object ask for.
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

// sortedFacts are owner facts by class. A reference that is not covered does not
// hinder the others: one existing owner is enough to keep the object.
type sortedFacts struct {
	solid             int
	dangling, waiting []types.UID
	unresolved        *OwnerFact
	notCovered        *OwnerFact
}

func sortFacts(owners []OwnerFact) sortedFacts {
	var s sortedFacts
	for i := range owners {
		o := &owners[i]
		switch o.Class {
		case Existing:
			s.solid++
		case Dangling:
			s.dangling = append(s.dangling, o.Reference.UID)
		case Waiting:
			s.waiting = append(s.waiting, o.Reference.UID)
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
