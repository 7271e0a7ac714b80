package diagnose

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// verdict sets the verdict from the next decision about the object and from its outcome without any
// request.
func (q *question) verdict(e *report.Explanation, effect report.Effect) {
	e.Reason = q.decision.Reason.String()
	switch {
	case q.attempt.WaitingForDependents && q.decision.Reason != reason.NoBlockingDependents:
		e.Verdict = report.WaitingForDependents
		e.Message = waitingMessage(effect)
		if effect.Outcome == report.Blocked || effect.Outcome == report.Unknown {
			e.Reason = effect.Reason
		}
	case q.attempt.BeingDeleted || q.attempt.WaitingForDependents:
		q.deletedVerdict(e, effect)
	case effect.Outcome == report.Deleted || effect.Outcome == report.Blocked:
		e.Verdict = report.Garbage
		e.Message = q.garbageMessage(effect)
		switch {
		case len(q.decision.Requests) > 0:
		case effect.Reason == reason.DeletedByController.String(): // for example, of its namespace
			e.Reason = effect.Reason
		default:
			e.Reason = OwnerIsGarbage
			e.Message = "its owner still exists and is garbage itself; the object is deleted after it"
		}
	case effect.Outcome == report.Kept && strings.HasPrefix(nextRequest(q.decision), deletes):
		// It is garbage and stays. A verdict of Live would hide what is wrong.
		e.Verdict, e.Message = report.Garbage, q.garbageMessage(effect)
		switch effect.Reason {
		case "":
			if q.decision.Reason == reason.WaitingOwner { // only a new event makes the collector look at it
				e.Message = "its owner " + q.ownersOf(engine.Waiting)[0] + " is being deleted in the foreground; it goes at the latest when the owner is gone"
			}
		case string(reason.RequestRefused):
			e.Reason, e.Message = effect.Reason, e.Message+"; "+effect.Message
		default: // a plan skips one of two objects that share a uid
			e.Reason, e.Message = effect.Reason, e.Message+"; it "+effect.Message
		}
	case effect.Outcome == report.Unknown:
		e.Verdict, e.Reason, e.Message = report.Undecidable, effect.Reason, effect.Message
	case q.deployer() != nil:
		q.deployedVerdict(e, q.deployer())
	case q.decision.Reason == reason.UnknownOwnerKind && q.unserved(q.facts.Owners) != "":
		e.Verdict, e.Message = report.Live, "the kind of its owner "+q.unserved(q.facts.Owners)+" is not served: the garbage collector keeps it and retries forever"
	case q.decision.Err != nil && q.decision.Reason != reason.OwnerRefInvalidNamespace:
		e.Verdict = report.Undecidable
		e.Message = q.undecidableMessage()
	default:
		e.Verdict = report.Live
		e.Message = q.liveMessage(effect)
	}
}

// deployer returns the object that is being deleted and lists the target, so that its deployer deletes
// the target first; nil for none.
func (q *question) deployer() *object.Object {
	for _, o := range q.reach.ImplicitOwners(q.target) {
		if o.BeingDeleted() && o.Inventory() != nil {
			return o
		}
	}
	return nil
}

// deployedVerdict handles an object that a deployer deletes with another one, if it works.
func (q *question) deployedVerdict(e *report.Explanation, from *object.Object) {
	name := from.Finalizers()[slices.IndexFunc(from.Finalizers(), func(name string) bool { return finalizer.DeployerOf(from.Ref, name) != nil })]
	by, _ := plan.RemovedBy(name, from.Kind)
	state := report.FinalizerControllerUnknown
	if q.health != nil {
		state = q.health.Controller(from, name).State
	}
	paused := finalizer.NewBindings(q.snap).PauseOf(from, nil, name).By
	e.Verdict, e.Reason = report.Undecidable, string(reason.Undeployed)
	e.Message = from.FullName() + ", which lists it, is being deleted: "
	switch {
	case state == report.FinalizerControllerGone:
		e.Verdict, e.Message = report.Live, e.Message+by+" would delete it, and does not run"
	case paused != "":
		e.Verdict, e.Message = report.Live, e.Message+by+" would delete it, and "+paused+" pauses that"
	case slices.ContainsFunc(from.Inventory().Entries, func(at object.InventoryEntry) bool {
		o := q.snap.ObjectAt(at.Coordinates)
		return o != nil && finalizer.DeployerOf(from.Ref, name).AwaitsConfirmation(from, o, at)
	}):
		e.Message += by + " deletes it once somebody confirms that"
	case state == report.FinalizerControllerAlive:
		e.Verdict, e.Message = report.Garbage, e.Message+by+" deletes it"
	case state == report.FinalizerControllerSlow:
		e.Message += by + " deletes it if it works, which is unknown"
	default:
		e.Message += by + " deletes it if it runs, which is unknown"
	}
}

// unserved returns the name of the owner with a kind that is known not to be served; empty if there is
// none.
func (q *question) unserved(owners []engine.OwnerFact) string {
	for _, o := range owners {
		if o.Evidence == engine.KindNotServed && q.snap.KnowsKindsOf(o.Ref.APIVersion) {
			return o.Ref.ShortName()
		}
	}
	return ""
}

// refusal returns why the API server refuses to delete the object with its namespace; empty if the
// namespace is not being deleted, or no refusal is known.
func (q *question) refusal() string {
	ns := q.snap.FindKind(object.Namespace, "", q.target.Namespace)
	if q.health == nil || ns == nil || !ns.BeingDeleted() {
		return ""
	}
	if r, refused := q.health.Refuses(health.Write{Operation: health.Remove, Object: q.target, First: true}); refused && r.Sure {
		return r.Text()
	}
	return ""
}

// liveMessage returns what keeps the object.
func (q *question) liveMessage(effect report.Effect) string {
	solid := q.ownersOf(engine.Existing)
	if drain := q.drains(); len(drain) > 0 {
		known := q.health.Known(drain[0].Budget.Ref)
		return "it is cordoned, and " + drain[0].Text(known)
	}
	switch refusal := q.refusal(); {
	case refusal != "":
		return "ns/" + q.target.Namespace + ", which is being deleted, cannot take it: " + refusal
	case q.decision.Reason == reason.NoOwners:
		return "it has no owner references, so the garbage collector never touches it"
	case q.decision.Reason == reason.OwnerRefInvalidNamespace:
		return "it is cluster-scoped and names a namespaced owner; the garbage collector gives up on it"
	case effect.Outcome == report.Pruned:
		return effect.Message
	case len(solid) == 1:
		return "its owner " + solid[0] + " exists"
	case len(solid) > 1:
		return "its owners " + strings.Join(solid, ", ") + " exist"
	default:
		return "nothing takes it"
	}
}

// garbageMessage returns which owner is absent.
func (q *question) garbageMessage(effect report.Effect) string {
	absent := q.ownersOf(engine.Dangling)
	waiting := q.ownersOf(engine.Waiting)
	switch {
	case len(absent)+len(waiting) == 0:
		return effect.Message
	case len(waiting) > 0:
		return "its owner " + waiting[0] + " is being deleted in the foreground and waits for it to go"
	case len(absent) == 1 && q.ownerElsewhere() != nil:
		actual := q.ownerElsewhere().Ref
		if actual.Namespace != q.target.Namespace && actual.Namespace != "" {
			return "its owner " + actual.ShortName() + " is in namespace " + actual.Namespace + ", and an owner in another namespace does not count: the garbage collector treats it as absent"
		}
		return "the uid of its owner " + absent[0] + " belongs to " + actual.FullName() + ": the garbage collector treats the owner as absent"
	case len(absent) == 1 && slices.ContainsFunc(q.facts.Owners, func(o engine.OwnerFact) bool { return o.Evidence == engine.OtherUID }):
		return "the " + absent[0] + " that owned it does not exist; the one of that name has another uid"
	case len(absent) == 1:
		return "its only owner " + absent[0] + " does not exist"
	default:
		return "none of its owners exists: " + strings.Join(absent, ", ")
	}
}

// ownerElsewhere returns the object that has the uid of an absent owner, but another kind, namespace
// or name than the reference; nil if there is none.
func (q *question) ownerElsewhere() *object.Object {
	for _, o := range q.facts.Owners {
		if actual := q.elsewhere(o); actual != nil {
			return actual
		}
	}
	return nil
}

// elsewhere is ownerElsewhere for one owner.
func (q *question) elsewhere(o engine.OwnerFact) *object.Object {
	if o.Class != engine.Dangling {
		return nil
	}
	ref := o.Ref
	ref.UID = o.Reference.UID
	return q.snap.Elsewhere(ref)
}

func (q *question) undecidableMessage() string {
	for _, o := range q.decision.Owners {
		if o.Class == engine.Unresolved && o.Evidence != engine.NotAsked {
			return "its owner " + o.Ref.ShortName() + ": " + q.evidenceText(o)
		}
	}
	return q.decision.Err.Error()
}

// ownersOf returns the names of the owners of one class, in the order of the collector's lookups.
func (q *question) ownersOf(class engine.Class) []string {
	var names []string
	for _, o := range q.facts.Owners {
		if o.Class == class {
			names = append(names, o.Ref.ShortName())
		}
	}
	return names
}

// deletedVerdict handles an object that is being deleted and does not wait for dependents.
func (q *question) deletedVerdict(e *report.Explanation, effect report.Effect) {
	e.Verdict = report.BeingDeleted
	e.Message = "nothing holds it that the garbage collector does not remove"
	switch effect.Outcome {
	case report.Blocked, report.Unknown:
		e.Reason, e.Message = effect.Reason, effect.Message
	case report.Deleted:
		if len(effect.Assumptions) > 0 {
			e.Message = "goes if " + strings.Join(effect.Assumptions, ", and ")
		}
	default:
	}
	foreign := q.foreignFinalizers()
	switch {
	case len(foreign) == 0, effect.Outcome == report.Deleted, slices.Contains(notHeld, reason.Code(effect.Reason)), reason.Code(effect.Reason).Overdue():
	case slices.Contains(protects, reason.Code(effect.Reason)):
		e.Verdict = report.HeldByFinalizer
		if effect.BlockedBy != nil {
			q.users = effect.BlockedBy.Dependents
		}
	default:
		e.Verdict = report.HeldByFinalizer
		verb := " holds it"
		if len(foreign) > 1 {
			verb = " hold it"
		}
		e.Message = strings.Join(foreign, ", ") + verb + ", and the garbage collector leaves it alone"
	}
}

// notHeld are the reasons of objects that are blocked by something other than their finalizers.
var notHeld = []reason.Code{
	reason.ContentRemains, reason.DiscoveryFails, reason.APIServiceUnavailable, reason.WebhookUnreachable, reason.ConversionFails, reason.WebhookUnknown,
	reason.PolicyDenies, reason.PolicyUnknown,
}

// protects are the reasons of objects that only a protection finalizer of Kubernetes holds. Its
// controller removes it after the last use.
var protects = []reason.Code{reason.InUse, reason.ProtectionUnknown, reason.LeftAlone}

// foreignFinalizers returns the finalizers that the collector does not remove.
func (q *question) foreignFinalizers() []string {
	foreign := object.Filtered(q.target.Finalizers(), func(name string) bool {
		return name != object.Foreground && name != object.Orphan
	})
	return foreign
}

func waitingMessage(effect report.Effect) string {
	switch effect.Outcome {
	case report.Blocked:
		if effect.Reason == string(reason.BlockingDependents) {
			return "it " + effect.Message + ", which does not go"
		}
		return effect.Message
	case report.Unknown:
		return effect.Message
	default:
		return "it is deleted once its blocking dependents are gone"
	}
}

// deadlock returns why a deletion never ends by itself, if the cause is not a finalizer. It follows
// the waits from dependent to dependent. It returns nil if it finds no deadlock.
//
// Rule: spec §3.16, Q1–Q4, Q20.
func (q *question) deadlock(ctx context.Context, effect report.Effect) (*report.Deadlock, error) {
	if !q.target.BeingDeleted() || effect.Outcome != report.Blocked && effect.Outcome != report.Unknown {
		return nil, nil
	}
	result, err := plan.Simulate(ctx, q.near, plan.CollectSeed(), plan.Options{Health: q.health, Record: plan.RecordRequests})
	if err != nil {
		return nil, err
	}
	effects := map[object.Ref]*report.Effect{}
	for i := range result.Plan.Effects {
		effects[result.Plan.Effects[i].Object] = &result.Plan.Effects[i]
	}
	start := q.target.Ref
	from := map[object.Ref]object.Ref{start: start}
	open := []object.Ref{start}
	for i := 0; i < len(open); i++ {
		at := open[i]
		if d := q.end(ctx, at, effects[at]); d != nil {
			d.Path = pathTo(from, at)
			return d, nil
		}
		if e := effects[at]; e != nil && e.BlockedBy != nil && slices.Contains(waitsForDependents, reason.Code(e.Reason)) {
			for _, next := range e.BlockedBy.Dependents {
				if _, met := from[next]; !met {
					from[next] = at
					open = append(open, next)
				}
			}
		}
	}
	return nil, nil
}

// waitsForDependents are the reasons of objects that wait for dependents, and not for content or users.
var waitsForDependents = []reason.Code{reason.BlockingDependents, reason.CycleOfWaiting, reason.WaitsForItself, reason.DependentUnknown}

// end returns the deadlock at an object; nil if there is none.
func (q *question) end(ctx context.Context, at object.Ref, e *report.Effect) *report.Deadlock {
	name := at.ShortName()
	if e != nil && e.Outcome == report.Blocked {
		switch reason.Code(e.Reason) {
		case reason.WaitsForItself:
			return &report.Deadlock{Reason: e.Reason, Message: name + " is its own owner and blocks its own deletion"}
		case reason.CycleOfWaiting:
			return &report.Deadlock{Reason: e.Reason, Message: name + " and " + names(e.BlockedBy.Dependents) +
				" are all being deleted in the foreground and wait for one another"}
		case reason.DeletionMissed:
			return &report.Deadlock{Reason: e.Reason, Message: "the garbage collector has missed that the deletion of " + name +
				" began and does not look again until it restarts"}
		default:
			return nil
		}
	}
	a, ok := q.collector.Inspect(at.UID)
	if !ok || a.BeingDeleted {
		return nil
	}
	facts := engine.Lookup(ctx, q.world, engine.Upstream, a)
	d := q.collector.Decide(facts)
	switch {
	case d.Reason == reason.OwnerRefInvalidNamespace:
		return &report.Deadlock{Reason: d.Reason.String(), Message: name +
			" blocks, is in no namespace and names an owner in one: the garbage collector gives up on it, so it is never deleted"}
	case d.Reason == reason.UnknownOwnerKind && q.unserved(facts.Owners) != "":
		return &report.Deadlock{Reason: d.Reason.String(), Message: name +
			" blocks, and names another owner of a kind that is not served: the garbage collector decides nothing about it, so it is never deleted"}
	}
	return nil
}

// names lists the first few objects.
func names(refs []object.Ref) string {
	const most = 3
	list := object.Mapped(refs[:min(most, len(refs))], object.Ref.ShortName)
	if len(refs) > most {
		list = append(list, "others")
	}
	return strings.Join(list, ", ")
}

func pathTo(from map[object.Ref]object.Ref, at object.Ref) []object.Ref {
	path := []object.Ref{at}
	for from[at] != at {
		at = from[at]
		path = append([]object.Ref{at}, path...)
	}
	return path
}
