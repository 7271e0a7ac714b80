package lost

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// itself reports whether an object is the namespace of the question, or named in it.
func (q *Question) itself(r object.Ref) bool {
	if q.Objects == nil {
		return q.Namespace != "" && r.Is(object.Namespace) && r.Name == q.Namespace
	}
	return q.isNamed(r)
}

// pick marks the losses that the question is about: those in the namespace or named, and all that
// were deleted because of a request to delete such an object.
func pick(a *history.Account, q Question) []bool {
	below := q.below(a)
	picked := make([]bool, len(a.Losses))
	for i := range a.Losses {
		l := &a.Losses[i]
		inside := q.Objects == nil && (q.Namespace == "" || l.Object.Namespace == q.Namespace)
		picked[i] = inside || q.itself(l.Object.Ref) || below(i)
	}
	return picked
}

// below returns a function that reports whether a loss was caused by a delete of an object of the
// question. What the same request took for its other objects is not.
func (q *Question) below(a *history.Account) func(loss int) bool {
	all, some := make([]bool, len(a.Requests)), make([]bool, len(a.Requests))
	for i := range a.Requests {
		itself := func(l int) bool { return q.itself(a.Losses[l].Object.Ref) }
		some[i] = slices.ContainsFunc(a.Requests[i].Losses, itself)
		all[i] = some[i] && !slices.ContainsFunc(a.Requests[i].Losses, func(l int) bool { return !itself(l) })
	}
	at := map[object.Coordinates]int{} // the last loss at each place
	for i := range a.Losses {
		at[a.Losses[i].Object.Ref.Coordinates()] = i
	}
	known := map[int]bool{} // results so far
	var went func(loss int) bool
	went = func(loss int) bool {
		is, ok := known[loss]
		if ok {
			return is
		}
		known[loss] = false // in a cycle, none was caused by the others
		by := a.Losses[loss].Cause.By
		if next, seen := at[by.Coordinates()]; by != (object.Ref{}) {
			is = q.itself(by) || !seen || went(next) // if the cause was not seen, it may be the object
		}
		known[loss] = is
		return is
	}
	return func(loss int) bool {
		request := a.Losses[loss].Cause.Request
		return request >= 0 && (all[request] || some[request] && went(loss))
	}
}

// routine reports whether a loss is part of normal operation and so only of interest if it is named.
func (q *Question) routine(l *history.Loss) bool {
	if q.Objects != nil && q.itself(l.Object.Ref) {
		return false
	}
	if l.Object.IsEvent() || l.Object.Generated() {
		return true
	}
	if l.Cause.Request >= 0 {
		return false
	}
	switch reason.Code(l.Cause.Code) {
	case reason.ControllerChanged, reason.CleanedUp:
		return true
	default:
		return false
	}
}

// routines marks the losses that are part of normal operation: those that Kubernetes itself causes,
// and what they take along, such as the pods of a Job that exceeds the history limit of its CronJob.
func (q *Question) routines(a *history.Account) []bool {
	usual := make([]bool, len(a.Losses))
	byUID := map[types.UID]int{}
	for i := range a.Losses {
		usual[i] = q.routine(&a.Losses[i])
		if !a.Losses[i].Orphaned {
			byUID[a.Losses[i].Object.UID] = i
		}
	}
	for more := true; more; {
		more = false
		for i := range a.Losses {
			l := &a.Losses[i]
			by, seen := byUID[l.Cause.By.UID]
			if usual[i] || !seen || !usual[by] || l.Cause.Request >= 0 || !collected(l) || q.Objects != nil && q.itself(l.Object.Ref) {
				continue
			}
			usual[i], more = true, true
		}
	}
	return usual
}

// index is precomputed over all losses.
type index struct {
	// usual marks the losses of normal operation.
	usual []bool
	// missed marks the requests, by users, that caused any other loss.
	missed []bool
	// crds has the kinds of deleted CRDs, which are no longer served.
	crds map[schema.GroupKind]bool
}

func indexOf(a *history.Account, q *Question) index {
	x := index{q.routines(a), make([]bool, len(a.Requests)), map[schema.GroupKind]bool{}}
	for i := range a.Losses {
		l := &a.Losses[i]
		if r := l.Cause.Request; r >= 0 && !x.usual[i] {
			x.missed[r] = true
		}
		if crd := l.Object.Definition(); crd != nil {
			x.crds[schema.GroupKind{Group: crd.Group, Kind: crd.Kind}] = true
		}
	}
	return x
}

// byKind counts losses of the document by kind.
func (d *document) byKind(losses []int) []report.LostCount {
	var counts []report.LostCount
	at := map[report.LostCount]int{}
	for _, i := range losses {
		l := &d.out.Losses[i]
		key := report.LostCount{
			APIVersion: l.Object.APIVersion, Kind: l.Object.Kind, State: l.State, Data: d.dataOf(l.Object), Routine: l.Routine,
		}
		n, ok := at[key]
		if !ok {
			n = len(counts)
			at[key] = n
			counts = append(counts, key)
		}
		counts[n].Count++
	}
	slices.SortFunc(counts, func(a, b report.LostCount) int {
		return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State), cmp.Compare(b.Count, a.Count))
	})
	return counts
}

// dataOf returns which data an object held.
func (d *document) dataOf(r report.Ref) report.Data {
	switch {
	case r.Is(object.PVC), r.Is(object.PV):
		return report.VolumeData
	case r.Is(object.Secret):
		return report.SecretData
	case d.crds[schema.GroupKind{Group: object.GroupOf(r.APIVersion), Kind: r.Kind}]:
		return report.CustomData
	case d.a.Past.Resources == nil:
		return ""
	}
	if served, err := d.a.Past.Resources.For(r.APIVersion, r.Kind); err == nil && served.Custom {
		return report.CustomData
	}
	return ""
}

func sorted(refs []report.Ref) []report.Ref {
	slices.SortFunc(refs, func(a, b report.Ref) int { return object.Compare(object.Ref(a), object.Ref(b)) })
	return refs
}
