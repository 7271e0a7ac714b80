package explain

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// complete reports whether nothing that was not seen could change the verdict, or the
// deletes that would take the object. What keeps an object that stays are its owners, and
// what they are in; what makes one garbage is that they do not exist. Once that was
// seen, no other object decides about it, whatever else exists. What is said of one that
// is being deleted may rest on each gap.
func (q *question) complete(ctx context.Context, e *report.Explanation) bool {
	switch {
	case e.Verdict == report.Undecidable:
		return false
	case len(e.Gaps) == 0:
		return true
	case e.Verdict != report.Live && e.Verdict != report.Garbage || q.undecided:
		return false
	}
	above := append(q.reach.Above(q.target), q.target)
	return !q.podsUnseen() && !slices.ContainsFunc(e.TakenBy, func(t report.Taker) bool { return late(t, above) }) &&
		!slices.ContainsFunc(above, func(o *object.Object) bool { return q.restsOnUnseen(ctx, o) })
}

// podsUnseen reports whether there may be pods for which a namespace waits that is to take
// the object: they go before everything else in it.
func (q *question) podsUnseen() bool {
	return q.target.Namespace != "" && !q.target.Is(object.Pod) && !q.snap.Covers(object.Pod.Resource(), q.target.Namespace)
}

// late reports whether others than the object, what is above it and what is deleted have to
// lose finalizers before the delete takes it: there may be more of these that were not seen.
func late(t report.Taker, above []*object.Object) bool {
	return t.Later && len(t.Once) == 0 || slices.ContainsFunc(t.Once, func(r report.Release) bool {
		ref := object.Ref(r.Object)
		return container(ref) && ref != above[len(above)-1].Ref || r.Object != t.Object && !slices.ContainsFunc(above, func(o *object.Object) bool { return o.Ref == ref })
	})
}

// restsOnUnseen reports whether something may take an object that was not seen: an owner,
// what it is in, or what it goes with.
func (q *question) restsOnUnseen(ctx context.Context, o *object.Object) bool {
	a, known := q.collector.Inspect(o.UID)
	if !known {
		return true
	}
	for _, owner := range engine.Examine(ctx, q.world, engine.Upstream, a).Owners {
		if owner.Class == engine.Unresolved || container(owner.Ref) || owner.Live != nil && owner.Live.HandlesDependents() {
			return true // its end may hang on what was not seen
		}
	}
	return follows(o) || len(o.Owners) > 0 && container(o.Ref) || q.definitionUnseen(o) || q.unseen(object.Namespace, o.Namespace) ||
		o.Pod() != nil && q.unseen(object.Node, o.Pod().NodeName)
}

// container reports whether an object goes only after its content.
func container(ref object.Ref) bool { return ref.Is(object.Namespace) || ref.Is(object.CRD) }

// follows reports whether an object goes with others to which it does not refer as its
// owners, beside what it is in.
func follows(o *object.Object) bool {
	return o.Volume() != nil || o.Token() != nil ||
		slices.ContainsFunc([]object.Kind{object.Endpoints, object.EndpointSlice, object.IPAddress, object.APIService}, o.Is)
}

// unseen reports whether an object that is in none may exist, and was not seen.
func (q *question) unseen(kind object.Kind, name string) bool {
	return name != "" && q.snap.FindKind(kind, "", name) == nil && !q.snap.Covers(kind.Resource(), "")
}

// definitionUnseen reports whether an object may be one of a CRD that was not seen. The
// groups of Kubernetes have no dot, or are its own.
func (q *question) definitionUnseen(o *object.Object) bool {
	builtin := !strings.Contains(o.Group(), ".") || strings.HasSuffix(o.Group(), ".k8s.io")
	return !builtin && !q.snap.Covers(object.CRD.Resource(), "")
}
