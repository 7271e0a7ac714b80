package controllers

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// held matches the objects that are being deleted and have the finalizer.
func held(by string) func(*object.Object) bool {
	return func(o *object.Object) bool { return o.BeingDeleted() && o.HasFinalizer(by) }
}

// release removes the finalizer of the pass from an object.
func (p *pass) release(o *object.Object) {
	next := o.Clone()
	life := next.Edit()
	life.Finalizers = slices.DeleteFunc(slices.Clone(life.Finalizers), func(name string) bool { return name == p.holds })
	_, err := p.w.Update(p.ctx, next)
	p.refused(o.Ref, object.Resource{}, err)
}

// uncovered reports whether the snapshot may lack an object of the resource in the namespace, and
// then records a wait.
func (p *pass) uncovered(c Coverage, of object.Ref, r object.Resource, namespace string) bool {
	if c.Covers(r, namespace) {
		return false
	}
	p.wait(Wait{Object: of, Reason: NotCovered, Resource: r, Why: c.Why(r, namespace)})
	return true
}

// unseen is uncovered for a single object that existed at a time, in seconds since 1970.
func (p *pass) unseen(c Coverage, of object.Ref, k object.Kind, ref object.Ref, at int64) bool {
	if p.uncovered(c, of, k.Resource(), ref.Namespace) {
		return true
	}
	why := momentsOf(c).Unseen(k, ref, at)
	if why != "" {
		p.wait(Wait{Object: of, Reason: NotCovered, Resource: k.Resource(), Why: why})
	}
	return why != ""
}

// few returns the first three names.
func few(objects []*object.Object) string {
	const most = 3
	var names []string
	for _, o := range objects[:min(most, len(objects))] {
		names = append(names, o.Name)
	}
	if len(objects) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
