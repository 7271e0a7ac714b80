package lost

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// isNamed reports whether the question names an object.
func (q *Question) isNamed(r object.Ref) bool {
	return slices.ContainsFunc(q.Objects, func(o object.Ref) bool { return samePlace(o, r) })
}

func samePlace(a, b object.Ref) bool {
	return a.Kind == b.Kind && a.Group() == b.Group() && a.Namespace == b.Namespace && a.Name == b.Name
}

// story marks the losses that an answer is about: those of pick, and for named objects also what was
// deleted with them, and what took them along: their owners, and so on up to the request. For an
// instance that is not shown, it marks the deletion of its CRD.
func story(a *history.Account, q Question) []bool {
	picked := pick(a, q)
	if q.Objects == nil {
		return picked
	}
	at := map[types.UID]int{}
	for i := range a.Losses {
		if l := &a.Losses[i]; !l.Orphaned {
			at[l.Object.UID] = i
		}
	}
	for _, i := range a.With(func(l *history.Loss) bool { return q.isNamed(l.Object.Ref) }) {
		picked[i] = true
	}
	var up func(l *history.Loss)
	up = func(l *history.Loss) {
		uids := []types.UID{l.Cause.By.UID}
		for _, owner := range l.Object.Owners {
			uids = append(uids, owner.UID)
		}
		for _, uid := range uids {
			if next, ok := at[uid]; ok && !picked[next] && a.Losses[next].Asked <= l.Asked {
				picked[next] = true
				up(&a.Losses[next])
			}
		}
	}
	for _, o := range q.Objects {
		seen := false
		for i := range a.Losses {
			if samePlace(o, a.Losses[i].Object.Ref) {
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

// bearing returns the kinds that may have taken a named object along, and its own kind. If the cause
// of its deletion is unknown, only its own kind is returned.
func (d *document) bearing() map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	add := func(ref object.Ref) { kinds[schema.GroupKind{Group: ref.Group(), Kind: ref.Kind}] = true }
	for _, o := range d.q.Objects {
		add(o)
	}
	served := d.a.Past.Resources
	if served == nil {
		served = &object.Resources{}
	}
	for i := range d.a.Losses {
		if l := &d.a.Losses[i]; d.picked[i] {
			add(l.Object.Ref)
			for _, ref := range history.Around(l.Object, served) {
				add(ref)
			}
		}
	}
	return kinds
}

// takes reports whether a named object took others along, or must have. These may be of any kind.
func (d *document) takes() bool {
	for i := range d.a.Losses {
		l := &d.a.Losses[i]
		if d.picked[i] && (d.q.isNamed(l.Cause.By) || d.q.isNamed(l.Object.Ref) && (l.Object.Is(object.Namespace) || l.Object.Is(object.CRD))) {
			return true
		}
	}
	return false
}

// addFate adds to the loss of a named object its owners and its replacements. A replacement was
// created by its controller since, or by another one of the same Deployment, which may have done so
// earlier.
func (d *document) addFate(out *report.Loss, l *history.Loss) {
	for _, owner := range l.Object.Owners {
		out.OwnersThen = append(out.OwnersThen, report.RefOf(d.served(owner.In(l.Object.Namespace))))
	}
	mine, ok := l.Object.Controller()
	if !ok || l.Orphaned {
		return
	}
	top := d.controllers()
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
		case c.Type == object.Added && (c.Revision >= l.Asked || controller.UID != mine.UID):
			made[ref] = true
		}
	}
	for ref := range made {
		out.ReplacedBy = append(out.ReplacedBy, report.RefOf(ref))
	}
	sorted(out.ReplacedBy)
}

// served returns a reference to an owner, without a namespace if its kind has none.
func (d *document) served(ref object.Ref) object.Ref {
	if d.a.Past.Resources != nil {
		if r, err := d.a.Past.Resources.For(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
			ref.Namespace = ""
		}
	}
	return ref
}

// controllers returns the topmost controllers of objects. For a pod this is the Deployment, which
// replaces the pods of one ReplicaSet by those of another.
func (d *document) controllers() map[types.UID]types.UID {
	if d.above != nil {
		return d.above
	}
	first := map[types.UID]types.UID{}
	note := func(o *object.Object) {
		if ref, ok := o.Controller(); ok {
			first[o.UID] = ref.UID
		}
	}
	for _, o := range d.a.Past.Standing {
		note(o)
	}
	for i := range d.a.Past.Changes {
		note(d.a.Past.Changes[i].Object)
	}
	d.above = map[types.UID]types.UID{}
	for uid, last := range first {
		for range len(first) {
			next, ok := first[last]
			if !ok {
				break
			}
			last = next
		}
		d.above[uid] = last
	}
	return d.above
}
