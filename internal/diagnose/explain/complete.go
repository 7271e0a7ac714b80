package explain

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// unseen returns where unseen objects could change the verdict, or the deletes that would take the
// object. An object stays because of its owners and containers, and is garbage if the owners do not
// exist. Once that was seen, no other object decides. Nothing holds an object that is being deleted
// and has no finalizers. Other verdicts may depend on everything nearby.
func (q *question) unseen(ctx context.Context, e *report.Explanation) *plan.Unseen {
	u := &plan.Unseen{}
	above := append(q.reach.Above(q.target), q.target)
	switch {
	case e.Verdict == report.BeingDeleted && len(q.target.Finalizers()) == 0 && !container(q.target.Ref):
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

// late reports whether a delete takes the object only after finalizers are removed from objects other
// than the deleted one, the target and those above it. Some of these may be unseen.
func late(t report.Taker, above []*object.Object) bool {
	return t.Later && len(t.Once) == 0 || slices.ContainsFunc(t.Once, func(r report.Release) bool {
		ref := object.Ref(r.Object)
		return container(ref) && ref != above[len(above)-1].Ref || r.Object != t.Object && !slices.ContainsFunc(above, func(o *object.Object) bool { return o.Ref == ref })
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
		case owner.Evidence == engine.KindNotServed && q.snap.KnowsAllKinds(): // the unserved kind is certain and keeps it
		case owner.Class == engine.Unresolved:
			u.Owners(q.snap, o)
			u.Doubt()
		case q.goes: // its owners do not keep it, whatever happens to them
		case container(owner.Ref):
			u.Everywhere() // it is deleted after its content
		case owner.Live != nil && owner.Live.HandlesDependents():
			u.In(owner.Live.Namespace) // its end depends on its other dependents
		}
	}
	switch {
	case q.goes:
		return
	case len(o.Owners) > 0 && container(o.Ref):
		u.Everywhere()
	case plan.Follows(o) && !goesAtOnce(plan.LeaderOf(q.snap, o)):
		u.In(o.Namespace)
	}
	if object.MayBeCustom(o.Group()) {
		u.Of(q.snap, object.CRD.Resource(), "")
	}
	u.Around(q.snap, o)
}

// container reports whether an object is deleted only after its content.
func container(ref object.Ref) bool { return ref.Is(object.Namespace) || ref.Is(object.CRD) }

// goesAtOnce reports whether an object was seen and its delete waits for nothing.
func goesAtOnce(o *object.Object) bool {
	return o != nil && !o.BeingDeleted() && len(o.Finalizers()) == 0
}
