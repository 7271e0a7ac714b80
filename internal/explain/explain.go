package explain

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// OwnerIsGarbage is the reason of an object whose owner still exists and is
// garbage itself.
const OwnerIsGarbage = "OwnerIsGarbage"

// question is one object and all that is asked about it.
type question struct {
	snap      *snapshot.Snapshot
	collector *engine.Collector
	world     engine.World
	target    *object.Object
	attempt   engine.Attempt
	facts     engine.Facts
	decision  engine.Decision
}

// Object explains one object. It returns an error when the object is not in the
// snapshot or when a simulation does not end.
func Object(ctx context.Context, snap *snapshot.Snapshot, ref object.Ref) (*report.Explanation, error) {
	target := snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if target == nil {
		return nil, fmt.Errorf("%s is not in the snapshot", ref)
	}
	q := &question{snap: snap, target: target}
	q.collector, q.world = plan.Open(snap, engine.Upstream)
	e := &report.Explanation{
		APIVersion: report.APIVersion, Kind: "Explanation", Source: plan.SourceOf(snap), Object: report.RefOf(target.Ref),
		Owners: []report.OwnerFinding{}, Dependents: []report.DependentFinding{}, Finalizers: []report.FinalizerFinding{},
		Chain: []report.ChainLink{}, TakenBy: []report.Taker{}, Remedies: []report.Remedy{}, Gaps: []report.Gap{},
	}
	if !q.ask(ctx) {
		e.Verdict, e.Reason = report.Undecidable, engine.NotObserved.String()
		e.Message = fmt.Sprintf("the collector does not watch the kind %s: it never touches this object", target.Kind)
		return e, nil
	}
	if q.shares(func(p snapshot.Problem) bool { return p.Object.UID == target.UID }) {
		e.Verdict, e.Reason = report.Undecidable, string(plan.SharedUID)
		e.Message = "another object has the same uid: the collector cannot tell them apart"
		return e, nil
	}
	if err := q.answer(ctx, q.neighbourhood(), e); err != nil {
		return nil, err
	}
	return e, nil
}

// ask has the engine look up and decide, as it would next.
func (q *question) ask(ctx context.Context) bool {
	a, ok := q.collector.Inspect(q.target.UID)
	if !ok {
		return false
	}
	q.attempt = a
	q.facts = engine.Examine(ctx, q.world, engine.Upstream, a)
	q.decision = q.collector.Decide(engine.Lookup(ctx, q.world, engine.Upstream, a))
	return true
}

func (q *question) answer(ctx context.Context, near *snapshot.Snapshot, e *report.Explanation) error {
	fate, err := q.fate(ctx, near)
	if err != nil {
		return err
	}
	q.verdict(e, fate)
	e.Next = nextRequest(q.decision)
	e.Owners = append(e.Owners, q.owners()...)
	e.Dependents = append(e.Dependents, q.dependents()...)
	e.Finalizers = append(e.Finalizers, finalizers(q.target)...)
	e.Chain = append(e.Chain, q.chain(ctx)...)
	takers, err := q.takenBy(ctx, near, fate)
	if err != nil {
		return err
	}
	e.TakenBy = append(e.TakenBy, takers...)
	remedies, err := q.remedies(ctx, near, e)
	if err != nil {
		return err
	}
	e.Remedies = append(e.Remedies, remedies...)
	e.Gaps = append(e.Gaps, plan.RelevantGaps(q.snap, func(ns string) bool { return ns == q.target.Namespace })...)
	e.Complete = e.Verdict != report.Undecidable && len(e.Gaps) == 0
	return nil
}

// neighbourhood is the snapshot reduced to what can decide about the object: what
// is connected with it over owner references, what stands under the names that
// these references use, and what the other deleters of a cluster look at. Where
// content counts it is the whole snapshot.
func (q *question) neighbourhood() *snapshot.Snapshot {
	if q.withContent() {
		return q.snap
	}
	g := q.collector.Graph()
	id, _ := g.Find(q.target.UID)
	near := map[*object.Object]bool{}
	for _, v := range g.Walk([]graph.ID{id}, graph.Both, 0) {
		if g.Virtual(v.ID) {
			continue
		}
		near[g.Object(v.ID)] = true
		for _, ref := range g.Owners(v.ID) {
			if o := q.named(ref, g.Identity(v.ID).Namespace); o != nil {
				near[o] = true
			}
		}
	}
	var objects []*object.Object
	for _, o := range q.snap.Objects {
		if near[o] || actsOnOthers(o) {
			objects = append(objects, o)
		}
	}
	return q.snap.With(objects)
}

// withContent tells whether the end of the object hangs on objects that do not
// refer to it: it has content, or it is content of a namespace that is being
// deleted. Where objects share a uid, nobody knows who refers to whom.
func (q *question) withContent() bool {
	switch q.target.Kind {
	case "Namespace", "CustomResourceDefinition":
		return true
	}
	namespace := q.snap.Find("v1", "Namespace", "", q.target.Namespace)
	return namespace != nil && namespace.BeingDeleted() ||
		q.shares(func(snapshot.Problem) bool { return true })
}

// shares tells whether objects of the snapshot share a uid that is of interest.
func (q *question) shares(interest func(snapshot.Problem) bool) bool {
	return slices.ContainsFunc(q.snap.Problems, func(p snapshot.Problem) bool {
		return p.Kind == snapshot.DuplicateUID && interest(p)
	})
}

// named is the object that stands under the name of a reference, whatever its
// uid.
func (q *question) named(ref object.OwnerReference, namespace string) *object.Object {
	r, err := q.world.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return nil
	}
	if !r.Namespaced {
		namespace = ""
	}
	preferred, ok := q.snap.Resources.Preferred(r.GroupResource())
	if !ok {
		return nil
	}
	return q.snap.Find(preferred.APIVersion(), preferred.Kind, namespace, ref.Name)
}

// actsOnOthers tells whether objects of the kind take part in deleting others
// that do not refer to them.
func actsOnOthers(o *object.Object) bool {
	switch o.Kind {
	case "Node", "Namespace", "CustomResourceDefinition":
		return true
	default:
		return false
	}
}

// fate is what the collector makes of the object when nobody does anything.
func (q *question) fate(ctx context.Context, near *snapshot.Snapshot) (report.Effect, error) {
	return plan.EffectOn(ctx, near, plan.CollectSeed(), q.target)
}

func nextRequest(d engine.Decision) string {
	for _, r := range d.Requests {
		switch r.Verb {
		case engine.DeleteObject:
			return "DELETE " + r.Policy.String()
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
