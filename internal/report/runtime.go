package report

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is APIVersion in two parts.
var GroupVersion = schema.GroupVersion{Group: "kubectl-gc.io", Version: "v1alpha1"}

// Scheme knows the kinds of the documents and nothing else. It is filled once
// and only read afterwards.
var Scheme = newScheme()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(GroupVersion, &Plan{}, &Explanation{}, &Diagnosis{}, &Graph{}, &Run{}, &Undo{})
	return s
}

// typeFields lets the plain fields apiVersion and kind of a document be read
// and written as a group, version and kind.
type typeFields struct{ apiVersion, kind *string }

// SetGroupVersionKind writes both fields.
func (f typeFields) SetGroupVersionKind(gvk schema.GroupVersionKind) {
	*f.apiVersion, *f.kind = gvk.ToAPIVersionAndKind()
}

// GroupVersionKind reads both fields.
func (f typeFields) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(*f.apiVersion, *f.kind)
}

// GetObjectKind gives printers the apiVersion and kind.
func (p *Plan) GetObjectKind() schema.ObjectKind { return typeFields{&p.APIVersion, &p.Kind} }

// GetObjectKind gives printers the apiVersion and kind.
func (e *Explanation) GetObjectKind() schema.ObjectKind { return typeFields{&e.APIVersion, &e.Kind} }

// GetObjectKind gives printers the apiVersion and kind.
func (d *Diagnosis) GetObjectKind() schema.ObjectKind { return typeFields{&d.APIVersion, &d.Kind} }

// GetObjectKind gives printers the apiVersion and kind.
func (g *Graph) GetObjectKind() schema.ObjectKind { return typeFields{&g.APIVersion, &g.Kind} }

// GetObjectKind gives printers the apiVersion and kind.
func (r *Run) GetObjectKind() schema.ObjectKind { return typeFields{&r.APIVersion, &r.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (r *Run) DeepCopyObject() runtime.Object {
	c := *r
	c.Source = r.Source.clone()
	c.Seed.Finalizers = slices.Clone(r.Seed.Finalizers)
	c.Seed.Targets = slices.Clone(r.Seed.Targets)
	c.Writes = slices.Clone(r.Writes)
	c.Surprises = slices.Clone(r.Surprises)
	c.Pending = cloneEach(r.Pending, func(p Pending) Pending {
		p.Finalizers, p.Dependents = slices.Clone(p.Finalizers), slices.Clone(p.Dependents)
		return p
	})
	c.Drift = slices.Clone(r.Drift)
	return &c
}

// GetObjectKind gives printers the apiVersion and kind.
func (u *Undo) GetObjectKind() schema.ObjectKind { return typeFields{&u.APIVersion, &u.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (u *Undo) DeepCopyObject() runtime.Object {
	c := *u
	c.Source = u.Source.clone()
	c.Steps = cloneEach(u.Steps, func(s UndoStep) UndoStep {
		s.References, s.Dropped = slices.Clone(s.References), slices.Clone(s.Dropped)
		s.Stripped, s.Notes = slices.Clone(s.Stripped), slices.Clone(s.Notes)
		return s
	})
	c.Skipped = cloneEach(u.Skipped, func(s UndoSkip) UndoSkip {
		s.Dropped = slices.Clone(s.Dropped)
		return s
	})
	return &c
}

// DeepCopyObject returns a copy that shares no memory that can be written. It
// copies field by field: a way over JSON would change names that are not UTF-8.
func (p *Plan) DeepCopyObject() runtime.Object {
	c := *p
	c.Source = p.Source.clone()
	c.Seed.Finalizers = slices.Clone(p.Seed.Finalizers)
	c.Seed.Targets = slices.Clone(p.Seed.Targets)
	c.Summary.ByKind = slices.Clone(p.Summary.ByKind)
	c.Effects = cloneEach(p.Effects, Effect.clone)
	c.Steps = slices.Clone(p.Steps)
	c.Stuck = cloneEach(p.Stuck, Stuck.clone)
	c.Gaps = slices.Clone(p.Gaps)
	c.Finalizers = slices.Clone(p.Finalizers)
	c.Refusals = cloneEach(p.Refusals, Refusal.clone)
	return &c
}

// DeepCopyObject returns a copy that shares no memory that can be written.
func (e *Explanation) DeepCopyObject() runtime.Object {
	c := *e
	c.Source = e.Source.clone()
	c.Owners = slices.Clone(e.Owners)
	c.Dependents = slices.Clone(e.Dependents)
	c.Finalizers = slices.Clone(e.Finalizers)
	c.Chain = slices.Clone(e.Chain)
	c.TakenBy = slices.Clone(e.TakenBy)
	c.Remedies = slices.Clone(e.Remedies)
	c.Gaps = slices.Clone(e.Gaps)
	return &c
}

// DeepCopyObject returns a copy that shares no memory that can be written.
func (d *Diagnosis) DeepCopyObject() runtime.Object {
	c := *d
	c.Source = d.Source.clone()
	c.Findings = cloneEach(d.Findings, Finding.clone)
	c.Gaps = slices.Clone(d.Gaps)
	return &c
}

// DeepCopyObject returns a copy that shares no memory that can be written.
func (g *Graph) DeepCopyObject() runtime.Object {
	c := *g
	c.Source = g.Source.clone()
	c.Roots = slices.Clone(g.Roots)
	c.Nodes = cloneEach(g.Nodes, Node.clone)
	c.Edges = slices.Clone(g.Edges)
	c.Gaps = slices.Clone(g.Gaps)
	return &c
}

func (s Source) clone() Source {
	s.Files, s.Namespaces = slices.Clone(s.Files), slices.Clone(s.Namespaces)
	return s
}

func (e Effect) clone() Effect {
	e.Because = slices.Clone(e.Because)
	if e.BlockedBy != nil {
		e.BlockedBy = new(*e.BlockedBy)
		e.BlockedBy.Finalizers = slices.Clone(e.BlockedBy.Finalizers)
		e.BlockedBy.Dependents = slices.Clone(e.BlockedBy.Dependents)
	}
	e.RemovedReferences = slices.Clone(e.RemovedReferences)
	e.Assumptions = slices.Clone(e.Assumptions)
	e.RecreatedBy = cloneRef(e.RecreatedBy)
	return e
}

func (s Stuck) clone() Stuck {
	s.Because = slices.Clone(s.Because)
	return s
}

func (f Finding) clone() Finding {
	f.Reference = cloneRef(f.Reference)
	return f
}

func (n Node) clone() Node {
	n.Finalizers = slices.Clone(n.Finalizers)
	return n
}

func cloneRef(r *Ref) *Ref {
	if r == nil {
		return nil
	}
	return new(*r)
}

func cloneEach[T any](in []T, clone func(T) T) []T {
	if in == nil {
		return nil
	}
	out := make([]T, len(in))
	for i := range in {
		out[i] = clone(in[i])
	}
	return out
}
