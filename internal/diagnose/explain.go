package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// OwnerIsGarbage is the reason of an object whose owner still exists but is garbage itself.
const OwnerIsGarbage = "OwnerIsGarbage"

// question is one object and everything asked about it.
type question struct {
	snap      *snapshot.Snapshot
	collector *engine.Collector
	// world has the objects of near.
	world    engine.World
	target   *object.Object
	attempt  engine.Attempt
	facts    engine.Facts
	decision engine.Decision
	reach    *reach.Map
	// near is the part of the snapshot that decides about the object.
	near *snapshot.Snapshot
	// users are the objects that use the object while it is being deleted, and so protect it.
	users []object.Ref
	// undecided: a delete was tried, and it is unknown whether it takes the object.
	undecided bool
	// goes: the object is deleted in the end without any request.
	goes bool
	// health is the health of controllers and APIs; nil if unknown.
	health *health.Assessment
}

// Explain says why one object stays, is deleted or is stuck. Lookup and Decide of the engine give the
// verdict, and simulated runs the effects of deletes. It returns an error if the object is not in the snapshot, or if a
// simulation does not end.
func Explain(ctx context.Context, snap *snapshot.Snapshot, ref object.Ref, o ExplanationOptions) (*report.Explanation, error) {
	target := snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if target == nil {
		return nil, fmt.Errorf("%s is not in the snapshot", ref)
	}
	q := &question{snap: snap, target: target, health: o.Health}
	q.collector = plan.Start(snap, engine.Upstream)
	e := &report.Explanation{
		Header: report.HeaderOf("Explanation"), Source: plan.SourceOf(snap), Object: target.Ref,
		Owners: []report.OwnerFinding{}, Dependents: []report.DependentFinding{}, Finalizers: []report.FinalizerFinding{},
		Chain: []report.ChainLink{}, TakenBy: []report.Taker{}, Remedies: []report.Remedy{}, Gaps: []report.Gap{},
	}
	attempt, ok := q.collector.Inspect(target.UID)
	if !ok {
		e.Verdict, e.Reason = report.Undecidable, reason.NotObserved.String()
		e.Message = fmt.Sprintf("the garbage collector does not watch the kind %s: it never touches this object", target.Kind)
		if x := plan.ExpiryOf(snap, o.Health, target); x != nil && !o.NoManager {
			e.Verdict, e.Reason, e.Message, e.Expiry = report.Expires, x.Reason, x.Message, x
		}
		return e, nil
	}
	if slices.ContainsFunc(snap.Problems, func(p snapshot.Problem) bool { return p.Kind == snapshot.DuplicateUID && p.Object.UID == target.UID }) {
		e.Verdict, e.Reason = report.Undecidable, string(reason.SharedUID)
		e.Message = "another object has the same uid: the garbage collector cannot tell them apart"
		return e, nil
	}
	q.reach = plan.ReachMap(snap, q.collector.Graph(), o.Health)
	q.near = q.reach.Part(target)
	q.world = plan.World(q.near)
	q.attempt = attempt
	q.facts = engine.Examine(ctx, q.world, engine.Upstream, attempt)
	q.decision = q.collector.Decide(engine.Lookup(ctx, q.world, engine.Upstream, attempt))
	if err := q.answer(ctx, o, e); err != nil {
		return nil, err
	}
	if o.Unread {
		e.Verdict, e.Reason, e.Complete = report.Undecidable, reason.ObjectNotCovered.String(), false
		e.Message = "the object itself was not read: its finalizers, its owners and whether it is being deleted are unknown"
		if r, err := snap.Resources.For(target.APIVersion, target.Kind); err == nil {
			for i, g := range e.Gaps {
				e.Gaps[i].Matters = g.Matters || g.APIVersion == r.APIVersion() && g.Resource == r.Name
			}
		}
	}
	if other := plan.DifferenceOf(snap, target); len(other) > 0 {
		e.Source.VersionDifferences, e.Complete = other, false
	}
	return e, nil
}

func (q *question) answer(ctx context.Context, o ExplanationOptions, e *report.Explanation) error {
	effect, err := plan.EffectOn(ctx, q.near, plan.CollectSeed(), q.target, q.health) // without any request
	if err != nil {
		return err
	}
	q.goes = effect.Outcome == report.Deleted
	q.verdict(e, effect)
	e.Next = nextRequest(q.decision)
	e.Owners = append(e.Owners, q.owners()...)
	e.Dependents = append(e.Dependents, q.dependents()...)
	e.Finalizers = append(e.Finalizers, finalizers(q.target)...)
	e.Chain = append(e.Chain, q.chain(ctx)...)
	q.surround(e)
	if e.Obstructs, err = q.obstructs(ctx); err != nil {
		return err
	}
	takers, untried, err := q.takenBy(ctx, o, effect)
	if err != nil {
		return err
	}
	e.TakenBy, e.TakersUntried = append(e.TakenBy, takers...), untried
	if e.Deadlock, err = q.deadlock(ctx, effect); err != nil {
		return err
	}
	remedies, err := q.remedies(ctx, e)
	if err != nil {
		return err
	}
	e.Remedies = append(e.Remedies, remedies...)
	gaps, open := q.unseen(ctx, e).Gaps(q.snap, func(ns string) bool { return ns == q.target.Namespace })
	e.Gaps, e.Complete = append(e.Gaps, gaps...), !open
	if e.Verdict == report.Live && !o.NoManager {
		q.expires(e)
	}
	return nil
}

// expires changes the explanation of an object that stays for now and is deleted in time: by itself, or with the
// nearest object that takes it.
func (q *question) expires(e *report.Explanation) {
	x := plan.ExpiryOf(q.snap, q.health, q.target)
	for i := range e.TakenBy {
		t := &e.TakenBy[i]
		if x != nil && x.Certainty != report.Possible {
			break
		}
		if t.Unknown || t.Later || t.Policy == engine.OrphanPolicy.String() {
			continue
		}
		o := q.snap.ObjectAt(t.Object.Coordinates())
		if o == nil {
			continue
		}
		if with := plan.ExpiryWith(q.snap, q.health, o); with != nil && (x == nil || with.Certainty != report.Possible) {
			x = with
		}
	}
	if x == nil {
		return
	}
	e.Expiry = x
	switch x.Certainty {
	case report.Sure:
		e.Verdict, e.Reason, e.Message = report.Expires, x.Reason, x.Message
	case report.Possible:
		e.Message += "; " + x.Message
	default:
		e.Verdict, e.Reason, e.Message = report.Undecidable, x.Reason, e.Message+"; "+x.Message
	}
}

// deletes is the prefix of the next request if the collector deletes the object.
const deletes = "DELETE "

func nextRequest(d engine.Decision) string {
	for _, r := range d.Requests {
		switch r.Verb {
		case engine.DeleteObject:
			return deletes + r.Policy.String()
		case engine.RemoveOwners:
			return "PATCH ownerReferences"
		case engine.RemoveFinalizer:
			return "PATCH finalizers"
		case engine.Unblock:
			return "PATCH blockOwnerDeletion"
		}
	}
	return ""
}

// unseen returns where unseen objects could change the verdict, or the deletes that would take the
// object. An object stays because of its owners and containers, and is garbage if the owners do not
// exist. Once that was seen, no other object decides. Nothing holds an object that is being deleted
// and has no finalizers. Other verdicts may depend on everything nearby.
func (q *question) unseen(ctx context.Context, e *report.Explanation) *plan.Unseen {
	u := &plan.Unseen{}
	above := append(q.reach.Ancestors(q.target), q.target)
	switch {
	case e.Verdict == report.BeingDeleted && len(q.target.Finalizers()) == 0 && !q.target.IsContainer():
		return u
	case e.Verdict == report.Undecidable:
		for _, o := range above {
			u.Owners(q.snap, o)
			u.Around(q.snap, o)
		}
		u.Doubt()
		return u
	case e.Verdict != report.Live && e.Verdict != report.Garbage:
		u.In(q.target.Namespace)
	case q.undecided:
		u.In(q.target.Namespace)
		u.Doubt()
	case slices.ContainsFunc(e.TakenBy, func(t report.Taker) bool { return late(t, above) }):
		u.In(q.target.Namespace)
	}
	if ns := q.target.Namespace; ns != "" && !q.goesWithoutNamespace() && !apisim.Immortal(ns) && !q.target.Is(object.Pod) {
		u.Of(q.snap, object.Pod.Resource(), ns) // pods are deleted first, and the rest of the namespace waits for them
	}
	for _, o := range above {
		q.restsOn(ctx, u, o)
	}
	return u
}

// goesWithoutNamespace reports whether the target is deleted whatever happens to its namespace.
func (q *question) goesWithoutNamespace() bool {
	ns := q.snap.FindKind(object.Namespace, "", q.target.Namespace)
	return q.goes && (len(q.decision.Requests) > 0 || ns == nil || !ns.BeingDeleted())
}

// late reports whether a delete takes the target only after finalizers are removed from objects
// other than the deleted one, the target and those above it. Some of these may be unseen.
func late(t report.Taker, above []*object.Object) bool {
	return t.Later && len(t.Once) == 0 || slices.ContainsFunc(t.Once, func(r report.Release) bool {
		ref := r.Object
		return ref.IsContainer() && ref != above[len(above)-1].Ref || r.Object != t.Object && !slices.ContainsFunc(above, func(o *object.Object) bool { return o.Ref == ref })
	})
}

// restsOn records which unseen objects may take o: an owner, a container or a leader.
func (q *question) restsOn(ctx context.Context, u *plan.Unseen, o *object.Object) {
	a, known := q.collector.Inspect(o.UID)
	if !known {
		u.Everywhere()
		return
	}
	for _, owner := range engine.Examine(ctx, q.world, engine.Upstream, a).Owners {
		switch {
		case owner.Evidence == engine.KindNotServed && q.snap.KnowsKindsOf(owner.Ref.APIVersion): // the unserved kind is certain and keeps it
		case owner.Class == engine.Unresolved:
			u.Owners(q.snap, o)
			u.Doubt()
		case q.goes: // its owners do not keep it, whatever happens to them
		case owner.Ref.IsContainer():
			u.Everywhere() // it is deleted after its content
		case owner.Live != nil && owner.Live.HandlesDependents():
			u.In(owner.Live.Namespace) // its end depends on its other dependents
		}
	}
	leader := plan.LeaderOf(q.snap, o)
	switch {
	case q.goes:
		return
	case plan.Deploys(o), len(o.Owners)+len(q.reach.ImplicitOwners(o)) > 0 && o.IsContainer():
		u.Everywhere()
	case plan.Follows(o) && (leader == nil || leader.BeingDeleted() || len(leader.Finalizers()) > 0):
		u.In(o.Namespace) // its leader was not seen, or waits for something
	}
	u.Around(q.snap, o)
	u.Deployers(q.snap, o)
}

// surround adds the content of a namespace, the users of a claim, the storage behind it, and what refuses its delete.
func (q *question) surround(e *report.Explanation) {
	switch {
	case q.target.Is(object.Namespace):
		e.Content = contentOf(q.snap, q.target.Name)
	case q.target.Is(object.PVC):
		e.UsedBy = podsOf(q.snap, q.target)
	}
	if !q.target.BeingDeleted() { // nothing should use it any more
		e.Referrers, e.UnreadReferrers = plan.ReferrersOf(q.snap, q.health, q.target)
		if r, refused := plan.RefusalOfDelete(q.health, q.target); refused {
			e.Refusal = &report.DeleteRefusal{Certain: r.Sure, Message: r.Text()}
		}
	}
	if s, ok := plan.StorageOf(q.snap, q.target); ok {
		e.Storage = &s
	}
}

// obstructs returns the deletions that the target obstructs, and what a delete of it makes of them.
func (q *question) obstructs(ctx context.Context) ([]report.BlockedDeletion, error) {
	freed := map[object.Ref]bool{}
	for _, o := range q.reach.FreedBy(q.target) {
		freed[o.Ref] = o.BeingDeleted()
	}
	if len(freed) == 0 {
		return nil, nil
	}
	result, err := plan.Simulate(ctx, q.near, plan.DeleteSeed(engine.Background, q.target.Ref), plan.Options{Health: q.health, Record: plan.RecordNothing})
	if err != nil {
		return nil, err
	}
	var list []report.BlockedDeletion
	for i := range result.Plan.Effects {
		if e := &result.Plan.Effects[i]; freed[e.Object] {
			list = append(list, report.BlockedDeletion{Object: e.Object, Outcome: e.Outcome})
		}
	}
	return list, nil
}

// podsOf returns the pods that use a claim.
func podsOf(snap *snapshot.Snapshot, claim *object.Object) []object.Ref {
	var pods []object.Ref
	for _, o := range snap.Objects {
		if facts := o.Pod(); facts != nil && o.Namespace == claim.Namespace &&
			slices.ContainsFunc(facts.Claims, func(c object.Claim) bool { return c.Name == claim.Name }) {
			pods = append(pods, o.Ref)
		}
	}
	return pods
}

// contentOf counts the objects in a namespace by kind.
func contentOf(snap *snapshot.Snapshot, namespace string) []report.ContentCount {
	counts := map[report.ContentCount]int{}
	for _, o := range snap.Objects {
		if o.Namespace == namespace {
			counts[report.ContentCount{APIVersion: o.APIVersion, Kind: o.Kind, Role: roleOf(snap, o)}]++
		}
	}
	var list []report.ContentCount
	for c, n := range counts {
		c.Count = n
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b report.ContentCount) int {
		return cmp.Or(slices.Index(report.Roles(), a.Role)-slices.Index(report.Roles(), b.Role),
			strings.Compare(a.Kind, b.Kind), strings.Compare(a.APIVersion, b.APIVersion))
	})
	return list
}

// workloads are the kinds that run something, and Pod.
var workloads = []object.Kind{
	object.Pod, object.Deployment, object.StatefulSet, object.DaemonSet, object.ReplicaSet, object.ReplicationController, object.Job, object.CronJob,
}

// roleOf returns the role of an object in its namespace.
func roleOf(snap *snapshot.Snapshot, o *object.Object) report.Role {
	isOne := func(kinds []object.Kind) bool { return slices.ContainsFunc(kinds, o.Is) }
	_, controlled := o.Controller()
	r, err := snap.Resources.For(o.APIVersion, o.Kind)
	switch {
	case o.IsEvent(), o.Generated(), o.Token() != nil, controlled && o.Is(object.ReplicaSet):
		return report.GeneratedRole
	case isOne(workloads):
		return report.WorkloadRole
	case o.Is(object.PVC), o.Is(object.Secret), err == nil && r.Custom:
		return report.DataRole
	default:
		return report.OtherRole
	}
}

// finalizers returns the finalizers of an object, with the controller that removes each.
func finalizers(o *object.Object) []report.FinalizerFinding {
	findings := make([]report.FinalizerFinding, 0, len(o.Finalizers()))
	for _, name := range o.Finalizers() {
		f := report.FinalizerFinding{Name: name, RemovedBy: "the controller that put it there", State: "Idle"}
		if o.BeingDeleted() {
			f.State = "Waiting"
		}
		if by, when := plan.RemovedBy(name, o.Kind); by != "" {
			f.RemovedBy, f.Evidence = by, "removed "+when
		}
		findings = append(findings, f)
	}
	return findings
}
