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

// itself reports whether an object is the namespace that is asked about, or one that is named.
func (q *Question) itself(r object.Ref) bool {
	if q.Objects == nil {
		return q.Namespace != "" && r.Is(object.Namespace) && r.Name == q.Namespace
	}
	return q.isNamed(r)
}

// pick marks the losses that are asked about: those in the namespace, or those that are named;
// and with an object itself all that went because somebody deleted it.
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

// below tells of losses whether they went because somebody deleted an object itself. What one
// request took beside that, for other objects, did not.
func (q *Question) below(a *history.Account) func(loss int) bool {
	all, some := make([]bool, len(a.Requests)), make([]bool, len(a.Requests))
	for i := range a.Requests {
		itself := func(l int) bool { return q.itself(a.Losses[l].Object.Ref) }
		some[i] = slices.ContainsFunc(a.Requests[i].Losses, itself)
		all[i] = some[i] && !slices.ContainsFunc(a.Requests[i].Losses, func(l int) bool { return !itself(l) })
	}
	at := map[coordinates]int{} // the last loss of each place
	for i := range a.Losses {
		at[coordinatesOf(a.Losses[i].Object.Ref)] = i
	}
	known := map[int]bool{} // of what was looked at
	var went func(loss int) bool
	went = func(loss int) bool {
		is, ok := known[loss]
		if ok {
			return is
		}
		known[loss] = false // what goes in a circle went with none of them
		by := a.Losses[loss].Cause.By
		if next, seen := at[coordinatesOf(by)]; by != (object.Ref{}) {
			is = q.itself(by) || !seen || went(next) // where nothing shows with which of them it went, it may have been that
		}
		known[loss] = is
		return is
	}
	return func(loss int) bool {
		request := a.Losses[loss].Cause.Request
		return request >= 0 && (all[request] || some[request] && went(loss))
	}
}

// routine reports whether an object goes in the ordinary course of things, so that nobody
// looks for it who has not named it.
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

// routines marks the losses that go in the ordinary course of things: those of Kubernetes itself, and what
// went with them, as the pods of a Job that the history limit of its CronJob took.
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

// index is what is looked up of all losses.
type index struct {
	// usual marks the losses that go in the ordinary course of things.
	usual []bool
	// missed marks the requests that took something else than what goes in the ordinary course
	// of things: those of people.
	missed []bool
	// crds are the kinds of CRDs that are gone: nothing serves them any more.
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

// byKind counts losses of the document.
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

// dataOf says what data an object held.
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
