package past

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// isTarget reports whether an object is the namespace of the question, or named in it.
func (q *LostQuestion) isTarget(r object.Ref) bool {
	if q.Objects == nil {
		return q.Namespace != "" && r.Is(object.Namespace) && r.Name == q.Namespace
	}
	return q.isNamed(r)
}

// selectLosses marks the losses that the question is about: those in the namespace or named, and
// all that were deleted because of a request to delete such an object.
func selectLosses(a *Account, q LostQuestion) []bool {
	below := q.causedByTarget(a)
	picked := make([]bool, len(a.Losses))
	for i := range a.Losses {
		l := &a.Losses[i]
		inside := q.Objects == nil && (q.Namespace == "" || l.Object.Namespace == q.Namespace)
		picked[i] = inside || q.isTarget(l.Object.Ref) || below(i)
	}
	return picked
}

// causedByTarget returns a function that reports whether a loss was caused by the delete of an
// object of the question. A request may have deleted other objects too. What was deleted because of
// those does not count. all and some have, for each request, whether all or some of its objects are
// of the question.
func (q *LostQuestion) causedByTarget(a *Account) func(loss int) bool {
	all, some := make([]bool, len(a.Requests)), make([]bool, len(a.Requests))
	for i := range a.Requests {
		itself := func(l int) bool { return q.isTarget(a.Losses[l].Object.Ref) }
		some[i] = slices.ContainsFunc(a.Requests[i].Losses, itself)
		all[i] = some[i] && !slices.ContainsFunc(a.Requests[i].Losses, func(l int) bool { return !itself(l) })
	}
	at := map[object.Coordinates]int{} // the last loss at each coordinates
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
			is = q.isTarget(by) || !seen || went(next) // if the cause was not seen, it may be the object
		}
		known[loss] = is
		return is
	}
	return func(loss int) bool {
		request := a.Losses[loss].Cause.Request
		return request >= 0 && (all[request] || some[request] && went(loss))
	}
}

// isRoutine reports whether a loss is part of normal operation, so that it matters only if it is
// named.
func (q *LostQuestion) isRoutine(l *Loss) bool {
	if q.Objects != nil && q.isTarget(l.Object.Ref) {
		return false
	}
	if l.Object.IsEvent() || l.Object.Generated() {
		return true
	}
	if l.Cause.Request >= 0 {
		return false
	}
	switch l.Cause.Code {
	case reason.ControllerChanged, reason.CleanedUp:
		return true
	default:
		return false
	}
}

// markRoutine marks the losses that are part of normal operation: those that Kubernetes itself
// causes, and what was deleted with them, such as the pods of a Job that exceeds the history limit
// of its CronJob.
func (q *LostQuestion) markRoutine(a *Account) []bool {
	usual := make([]bool, len(a.Losses))
	byUID := map[types.UID]int{}
	for i := range a.Losses {
		usual[i] = q.isRoutine(&a.Losses[i])
		if !a.Losses[i].Orphaned {
			byUID[a.Losses[i].Object.UID] = i
		}
	}
	for more := true; more; {
		more = false
		for i := range a.Losses {
			l := &a.Losses[i]
			by, seen := byUID[l.Cause.By.UID]
			if usual[i] || !seen || !usual[by] || l.Cause.Request >= 0 || !wasCollected(l) || q.Objects != nil && q.isTarget(l.Object.Ref) {
				continue
			}
			usual[i], more = true, true
		}
	}
	return usual
}

// indexLosses fills notable and crds.
func (d *document) indexLosses() {
	for i := range d.a.Losses {
		l := &d.a.Losses[i]
		if r := l.Cause.Request; r >= 0 && !d.routine[i] {
			d.notable[r] = true
		}
		if crd := l.Object.Definition(); crd != nil {
			d.crds[schema.GroupKind{Group: crd.Group, Kind: crd.Kind}] = true
		}
	}
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
func (d *document) dataOf(r object.Ref) report.Data {
	switch {
	case r.Is(object.PVC), r.Is(object.PV):
		return report.VolumeData
	case r.Is(object.Secret):
		return report.SecretData
	case d.crds[schema.GroupKind{Group: object.GroupOf(r.APIVersion), Kind: r.Kind}]:
		return report.CustomData
	}
	if served, err := d.a.Past.Resources.For(r.APIVersion, r.Kind); err == nil && served.Custom {
		return report.CustomData
	}
	return ""
}

func sorted(refs []object.Ref) []object.Ref {
	slices.SortFunc(refs, object.Compare)
	return refs
}

// isNamed reports whether the question names an object.
func (q *LostQuestion) isNamed(r object.Ref) bool {
	return slices.ContainsFunc(q.Objects, func(o object.Ref) bool { return o.Coordinates() == r.Coordinates() })
}

// selectRelated marks the losses that an answer is about: those of selectLosses, and for named
// objects also what was deleted with them, and what took them along: their owners, and so on up to
// the request. For an instance that is not shown, it marks the deletion of its CRD.
func selectRelated(a *Account, q LostQuestion) []bool {
	picked := selectLosses(a, q)
	if q.Objects == nil {
		return picked
	}
	at := map[types.UID]int{}
	for i := range a.Losses {
		if l := &a.Losses[i]; !l.Orphaned {
			at[l.Object.UID] = i
		}
	}
	for _, i := range a.WithCaused(func(l *Loss) bool { return q.isNamed(l.Object.Ref) }) {
		picked[i] = true
	}
	var up func(l *Loss)
	up = func(l *Loss) {
		uids := []types.UID{l.Cause.By.UID}
		for _, owner := range l.Object.Owners {
			uids = append(uids, owner.UID)
		}
		for _, uid := range uids {
			if next, ok := at[uid]; ok && !picked[next] && a.Losses[next].Began <= l.Began {
				picked[next] = true
				up(&a.Losses[next])
			}
		}
	}
	for _, o := range q.Objects {
		seen := false
		for i := range a.Losses {
			if o.Coordinates() == a.Losses[i].Object.Coordinates() {
				seen = true
				up(&a.Losses[i])
			}
		}
		for i := range a.Losses {
			crd := a.Losses[i].Object.Definition()
			picked[i] = picked[i] || !seen && crd != nil && o.Group() == crd.Group && o.Kind == crd.Kind
		}
	}
	return picked
}

// relevantKinds returns the kinds of the named objects, of the shown losses, and of all objects
// that the attribution of these losses depends on.
func (d *document) relevantKinds() map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	add := func(ref object.Ref) { kinds[ref.GroupKind()] = true }
	for _, o := range d.q.Objects {
		add(o)
	}
	for i := range d.a.Losses {
		if l := &d.a.Losses[i]; d.selected[i] {
			add(l.Object.Ref)
			for _, ref := range RelevantRefs(l.Object, d.a.Past.Resources) {
				add(ref)
			}
		}
	}
	return kinds
}

// tookOthers reports whether other objects, of any kind, were deleted with a named one, or must
// have been.
func (d *document) tookOthers() bool {
	for i := range d.a.Losses {
		l := &d.a.Losses[i]
		if d.selected[i] && (d.q.isNamed(l.Cause.By) || d.q.isNamed(l.Object.Ref) && l.Object.IsContainer()) {
			return true
		}
	}
	return false
}

// addOwnersAndReplacements adds the owners and the replacements of a named object to its loss. A
// replacement was created later by the same controller. Or it was created at any time by another
// controller of the same Deployment, which may have scaled up the new ReplicaSet first.
func (d *document) addOwnersAndReplacements(out *report.Loss, l *Loss) {
	for _, owner := range l.Object.Owners {
		out.OwnersThen = append(out.OwnersThen, d.clearNamespace(owner.In(l.Object.Namespace)))
	}
	mine, ok := l.Object.Controller()
	if !ok || l.Orphaned {
		return
	}
	top := d.topControllers()
	made := map[object.Ref]bool{}
	for i := range d.a.Past.Changes {
		c := &d.a.Past.Changes[i]
		ref := c.Object.Ref
		if ref.Kind != l.Object.Kind || ref.Group() != l.Object.Group() || top[ref.UID] != top[l.Object.UID] {
			continue
		}
		controller, _ := c.Object.Controller()
		switch {
		case c.Type == object.Deleted || c.Object.BeingDeleted():
			delete(made, ref)
		case c.Type == object.Added && (c.Revision >= l.Began || controller.UID != mine.UID):
			made[ref] = true
		}
	}
	for ref := range made {
		out.ReplacedBy = append(out.ReplacedBy, ref)
	}
	sorted(out.ReplacedBy)
}

// clearNamespace returns a reference to an owner, without a namespace if its kind has none.
func (d *document) clearNamespace(ref object.Ref) object.Ref {
	if r, err := d.a.Past.Resources.For(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
		ref.Namespace = ""
	}
	return ref
}

// topControllers returns the topmost controller of each object, by UID. For a pod this is the
// Deployment, which replaces the pods of one ReplicaSet by those of another.
func (d *document) topControllers() map[types.UID]types.UID {
	if d.topmost != nil {
		return d.topmost
	}
	first := map[types.UID]types.UID{}
	note := func(o *object.Object) {
		if ref, ok := o.Controller(); ok {
			first[o.UID] = ref.UID
		}
	}
	for _, o := range d.a.Past.Unchanged {
		note(o)
	}
	for i := range d.a.Past.Changes {
		note(d.a.Past.Changes[i].Object)
	}
	d.topmost = map[types.UID]types.UID{}
	for uid, last := range first {
		for range len(first) {
			next, ok := first[last]
			if !ok {
				break
			}
			last = next
		}
		d.topmost[uid] = last
	}
	return d.topmost
}
