package engine

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Class is the state of the owner that a reference names.
type Class uint8

// The classes of an owner reference.
const (
	// Unresolved: unknown, because this reference or an earlier one could not be resolved.
	Unresolved Class = iota
	// Existing: the owner exists and does not wait for its dependents.
	Existing
	// Dangling: the owner is absent.
	Dangling
	// Waiting: the owner is being deleted in the foreground.
	Waiting
)

// Evidence is the reason for a class.
type Evidence uint8

// The evidence for a class.
const (
	// NotAsked: an earlier reference of the object made the answer irrelevant.
	NotAsked Evidence = iota
	// Found: a GET returned the owner.
	Found
	// FoundWaiting: a GET returned the owner, being deleted in the foreground.
	FoundWaiting
	// FoundHeld: the same, but something else holds the owner, too, so it may still exist when its
	// dependents are gone.
	FoundHeld
	// Remembered: the owner was found absent earlier.
	Remembered
	// Absent: a GET returned 404.
	Absent
	// NotServed: no path serves the kind, so every GET returns 404.
	NotServed
	// OtherUID: a GET returned another object with that name.
	OtherUID
	// Elsewhere: the UID belongs to an object with other coordinates.
	Elsewhere
	// StillObserved: a GET returned 404, but a watch shows the owner. One of the two is outdated.
	StillObserved
	// KindNotServed: no resource serves the apiVersion and kind.
	KindNotServed
	// NeedsNamespace: a cluster-scoped object refers to a namespaced kind.
	NeedsNamespace
	// NotCovered: the snapshot doesn't cover the owner's resource and namespace.
	NotCovered
	// Failed: the server refused the request or returned an error.
	Failed
)

// OwnerFact is the class of one owner reference, and why.
type OwnerFact struct {
	Reference object.OwnerReference
	// Ref is where the owner was looked up: without a namespace if its kind is cluster-scoped.
	Ref      object.Ref
	Class    Class
	Evidence Evidence
	// Err is the error for an unresolved reference.
	Err error
	// Live is the object that was found, with any UID; nil if the class rests on an earlier
	// attempt.
	Live *object.Object
}

// Facts are an API's answers for an attempt.
type Facts struct {
	Attempt Attempt
	// Item is the live object; nil when Err is set.
	Item *object.Object
	Err  error
	// Owners are the facts about the live object's references, in order. Empty if the object's own
	// state decides.
	Owners []OwnerFact
	// Custom is true if the object's kind doesn't support strategic merge patches. It is set only
	// if an owner waits.
	Custom bool
	// room is an empty slice with capacity for the requests of the decision.
	room []Request
}

// Lookup reads the facts that Decide needs: the object, then its owners in the order of the
// references, until one cannot be resolved. It holds no state and sends only reads.
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go isDangling, classifyReferences,
// attemptToDeleteItem: steps 2–6.
// Rule: spec §3.8, §3.10.
func Lookup(ctx context.Context, api Reader, rules Rules, a Attempt) Facts {
	return lookup(ctx, api, rules, a, false)
}

// Examine is Lookup for explanations. It reads every owner, even after an unresolved one, and even
// if the object's own state decides.
func Examine(ctx context.Context, api Reader, rules Rules, a Attempt) Facts {
	return lookup(ctx, api, rules, a, true)
}

// OwnersOf returns the facts of Examine about the owners of an object. It does not read the object:
// the caller knows that o is its current state.
func OwnersOf(ctx context.Context, api Reader, o *object.Object) []OwnerFact {
	f := Facts{Attempt: Attempt{Ref: o.Ref, Observed: o}, Item: o}
	f.askForOwners(ctx, api, Upstream, true)
	return f.Owners
}

func lookup(ctx context.Context, api Reader, rules Rules, a Attempt, all bool) Facts {
	f := Facts{Attempt: a}
	f.ask(ctx, api, rules, all)
	return f
}

// ask reads the facts that Decide needs.
func (f *Facts) ask(ctx context.Context, api Reader, rules Rules, all bool) {
	a := &f.Attempt
	if a.Work == OrphanWork || a.settledAlready() && !all {
		return
	}
	if a.itemKnown() {
		f.Item = a.Observed
	} else if f.Item, f.Err = api.Get(ctx, a.Ref); f.Err != nil {
		f.Item = nil
		return
	}
	if (f.Item.UID != a.Ref.UID || a.WaitingForDependents) && !all {
		return
	}
	f.askForOwners(ctx, api, rules, all)
}

// askForOwners reads the owners of the item.
func (f *Facts) askForOwners(ctx context.Context, api Reader, rules Rules, all bool) {
	a := &f.Attempt
	f.Owners = slices.Grow(f.Owners, len(f.Item.Owners))
	for _, ref := range f.Item.Owners {
		f.Owners = append(f.Owners, OwnerFact{Reference: ref})
	}
	// A dependent lends its namespace to a cluster-scoped owner until a watch shows the owner, and
	// upstream looks for the owner's owners there. Strict rules don't.
	namespace := a.Ref.Namespace
	if rules == Strict {
		namespace = f.Item.Namespace
	}
	for i := range f.Owners {
		o := &f.Owners[i]
		o.Ref = o.Reference.In(namespace)
		classify(ctx, api, rules, a, i, o)
		if o.Class == Unresolved && o.Evidence != NotCovered && !all {
			break
		}
		f.Custom = f.Custom || o.Class == Waiting && custom(api, a.Ref)
	}
}

// classify sets class and evidence of the i-th owner, which is looked up at its Ref.
func classify(ctx context.Context, api Reader, rules Rules, a *Attempt, i int, o *OwnerFact) {
	ref := &o.Reference
	if ref.UID == "" || ref.Name == "" {
		o.Evidence, o.Err = NotCovered, &object.UncoveredError{Ref: o.Ref, Why: emptyField}
		return
	}
	if a.known(a.absent, i, ref) {
		o.Class, o.Evidence = Dangling, Remembered
		return
	}
	resource, err := api.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		o.Evidence, o.Err = evidenceOf(err), err
		return
	}
	if !resource.Namespaced {
		o.Ref.Namespace = ""
	} else if o.Ref.Namespace == "" {
		o.Evidence, o.Err = NeedsNamespace, &object.NamespaceRequiredError{Ref: o.Ref}
		return
	}
	if rules == Strict && (!resource.Served() || object.AnswerTo(resource, ref.Name) == object.NothingThere) {
		o.Evidence, o.Err = NotServed, errNotProven
		return
	}
	if a.known(a.waiting, i, ref) {
		o.Class, o.Evidence = Waiting, FoundWaiting
		return
	}
	o.Live, err = api.Get(ctx, o.Ref)
	gone := err != nil && apierrors.IsNotFound(err)
	absent := gone || err == nil && o.Live.UID != ref.UID
	switch {
	case absent && rules == Strict && a.known(a.elsewhere, i, ref):
		o.Live, o.Evidence, o.Err = nil, Elsewhere, errNotProven
	case gone && rules == Strict && a.known(a.observed, i, ref):
		o.Live, o.Evidence, o.Err = nil, StillObserved, errNotProven
	case gone:
		o.Live, o.Class, o.Evidence = nil, Dangling, Absent
		if !resource.Served() {
			o.Evidence = NotServed
		}
	case err != nil:
		o.Live, o.Evidence, o.Err = nil, evidenceOf(err), err
	case o.Live.UID != ref.UID:
		o.Class, o.Evidence = Dangling, OtherUID
	case o.Live.WaitingForDependents() && rules == Strict && outlivesWaiting(o.Live, ref):
		o.Class, o.Evidence = Existing, FoundHeld
	case o.Live.WaitingForDependents():
		o.Class, o.Evidence = Waiting, FoundWaiting
	default:
		o.Class, o.Evidence = Existing, Found
	}
}

// emptyField says why the owner of a reference without a name or uid is unknown. The API server accepts no such
// reference: a program has cut it out of the dump.
//
// Upstream: apimachinery/pkg/api/validation/objectmeta.go validateOwnerReference.
const emptyField = "the reference has an empty field"

var errNotProven = errors.New("the absence of the owner is not proven")

func evidenceOf(err error) Evidence {
	var unknown *object.UnknownKindError
	var uncovered *object.UncoveredError
	var scope *object.NamespaceRequiredError
	switch {
	case errors.As(err, &unknown):
		return KindNotServed
	case errors.As(err, &uncovered):
		return NotCovered
	case errors.As(err, &scope):
		return NeedsNamespace
	default:
		return Failed
	}
}

// The differences between Strict and Upstream rules. Each one keeps an object that upstream would
// delete, or a reference that it would remove, because upstream's proof of absence is known to
// fail:
//
//  1. A 404 from a path that is not served, such as that of kind PodList or that of a
//     name with a slash, is not absence (classify; spec §3.18 H2, Q7, Q31).
//  2. Absence is not remembered: every owner is read again (observe.go remember, noteOwners;
//     §3.18 H1, Q14).
//  3. A UID that is observed under other coordinates than those of the reference is alive. If
//     nothing is found at the latter, the reference has a wrong namespace, kind or name, and its
//     owner is not absent (classify; §3.6, W3–W6).
//  4. An owner that a watch shows is not absent, whatever a GET says. The answer may be from
//     before the owner was restored with its UID, because answers are shared for a moment. Or the
//     watch is late and will queue the object again when it shows the deletion of the owner
//     (§3.18 H1, L23).
//  5. A DELETE refused because the object changed is never repeated without its
//     resourceVersion (Act; §3.12.1, Q13).
//  6. An owner that a watch reported deleted, and that a GET finds, is linked to its dependent
//     again (Settle; L23, L27).
//  7. A cluster-scoped object that was never observed has no namespace, whatever refers to it:
//     its namespaced owner cannot be resolved, and is not looked up in the dependent's namespace
//     (lookup; Q5).
//  8. A waiting owner that may exist after its wait keeps the dependents that don't block it: it
//     may exist again before a DELETE of one of them arrives. The blocking ones are deleted,
//     because the owner waits for that (classify, knownToWait; Q24).
//  9. An object that loses some of its owner references is judged again if no watch shows the
//     owner of a remaining one: while another owner existed, the absence of this one was not
//     checked (update).
//
// Objects that strict rules keep have the reason AbsenceNotProven; in case 7
// OwnerRefInvalidNamespace.

// noteObserved records whether the UID of the i-th reference belongs to an observed object, and
// whether that object has the coordinates of the reference.
func (c *Collector) noteObserved(a *Attempt, i int, ref object.OwnerReference) {
	owner, ok := c.graph.Find(ref.UID)
	switch {
	case !ok || c.graph.Virtual(owner):
	case named(ref, a.Ref.Namespace, c.graph.Identity(owner)):
		a.observed.Add(i)
	default:
		a.elsewhere.Add(i)
	}
}

// outlivesWaiting reports whether a waiting owner may still exist when its dependents are gone, and
// does not wait for this reference: another finalizer holds it, its grace period, or the content of
// a namespace. None of these can be added later: a server refuses new finalizers of an object that
// is being deleted, and its grace period only gets shorter.
func outlivesWaiting(owner *object.Object, ref *object.OwnerReference) bool {
	other := func(finalizer string) bool { return finalizer != object.Foreground }
	grace := owner.GracePeriod()
	return !ref.Blocks() && (slices.ContainsFunc(owner.Finalizers(), other) ||
		grace != nil && *grace > 0 || owner.Group() == object.Namespace.Group && owner.Kind == object.Namespace.Kind)
}

// named reports whether a reference of an object in a namespace names this owner.
func named(ref object.OwnerReference, namespace string, owner object.Ref) bool {
	return ref.Names(owner) && (owner.Namespace == "" || owner.Namespace == namespace)
}
