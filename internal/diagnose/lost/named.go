package lost

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// isNamed reports whether an object is one of those that are asked about by name.
func (q *Question) isNamed(r object.Ref) bool {
	return slices.ContainsFunc(q.Objects, func(o object.Ref) bool { return samePlace(o, r) })
}

func samePlace(a, b object.Ref) bool {
	return a.Kind == b.Kind && a.Group() == b.Group() && a.Namespace == b.Namespace && a.Name == b.Name
}

// story marks the losses that an answer is about: those that are asked about, and of objects that
// are named what went with them, and what they went with: their owners, and so on up to the
// request. Of an instance that is not shown it is the end of its CRD.
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

// bearing are the kinds of which something may have been what is named, or who took it: where
// nothing is said of its end, its own kind alone.
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

// takes reports whether it is said of what is named that something went with it, or must have:
// that may have been of any kind.
func (d *document) takes() bool {
	for i := range d.a.Losses {
		l := &d.a.Losses[i]
		if d.picked[i] && (d.q.isNamed(l.Cause.By) || d.q.isNamed(l.Object.Ref) && (l.Object.Is(object.Namespace) || l.Object.Is(object.CRD))) {
			return true
		}
	}
	return false
}

// addFate adds to the loss of what is named who owned it, and what was made in its place: by
// its controller since, or by another one of the same Deployment, which may have come first.
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

// served is a reference to an owner, without the namespace where its kind has none.
func (d *document) served(ref object.Ref) object.Ref {
	if d.a.Past.Resources != nil {
		if r, err := d.a.Past.Resources.For(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
			ref.Namespace = ""
		}
	}
	return ref
}

// controllers are the last controllers above objects: of a pod that of its ReplicaSet, since a
// Deployment replaces the pods of one by those of another.
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
