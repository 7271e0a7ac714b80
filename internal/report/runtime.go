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
	s.AddKnownTypes(GroupVersion, &Plan{}, &Explanation{}, &Diagnosis{}, &Graph{}, &Run{}, &Undo{}, &Exposure{}, &Risk{}, &Checkup{}, &Version{})
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

// GetObjectKind gives printers the apiVersion and kind.
func (r *Risk) GetObjectKind() schema.ObjectKind { return typeFields{&r.APIVersion, &r.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (r *Risk) DeepCopyObject() runtime.Object {
	c := *r
	c.Source = r.Source.clone()
	c.Items = cloneEach(r.Items, func(i RiskItem) RiskItem {
		i.ByKind = slices.Clone(i.ByKind)
		return i
	})
	c.Gaps = slices.Clone(r.Gaps)
	return &c
}

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
	c.Consequences = cloneEach(p.Consequences, Consequence.clone)
	c.Storage = cloneEach(p.Storage, Storage.clone)
	c.Steps = slices.Clone(p.Steps)
	c.Stuck = cloneEach(p.Stuck, Stuck.clone)
	c.Gaps = slices.Clone(p.Gaps)
	c.Finalizers = slices.Clone(p.Finalizers)
	c.Refusals = cloneEach(p.Refusals, Refusal.clone)
	if p.Exploration != nil {
		e := *p.Exploration
		c.Exploration = &e
	}
	return &c
}

// DeepCopyObject returns a copy that shares no memory that can be written.
func (e *Explanation) DeepCopyObject() runtime.Object {
	c := *e
	c.Source = e.Source.clone()
	c.Owners = slices.Clone(e.Owners)
	c.Dependents = slices.Clone(e.Dependents)
	c.Finalizers = cloneEach(e.Finalizers, FinalizerFinding.clone)
	c.WaitsFor = cloneEach(e.WaitsFor, Finding.clone)
	c.Chain = slices.Clone(e.Chain)
	c.TakenBy = cloneEach(e.TakenBy, Taker.clone)
	c.Events = slices.Clone(e.Events)
	if e.Deadlock != nil {
		d := *e.Deadlock
		d.Path = slices.Clone(d.Path)
		c.Deadlock = &d
	}
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

// GetObjectKind gives printers the apiVersion and kind.
func (c *Checkup) GetObjectKind() schema.ObjectKind { return typeFields{&c.APIVersion, &c.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (c *Checkup) DeepCopyObject() runtime.Object {
	d := *c
	d.Source = c.Source.clone()
	d.Reasons = slices.Clone(c.Reasons)
	if c.Graph != nil {
		d.Graph = new(*c.Graph)
	}
	d.Findings = cloneEach(c.Findings, Finding.clone)
	d.Gaps = slices.Clone(c.Gaps)
	return &d
}

func (s Source) clone() Source {
	s.Files, s.Namespaces = slices.Clone(s.Files), slices.Clone(s.Namespaces)
	return s
}

func (e Effect) clone() Effect {
	e.Because = slices.Clone(e.Because)
	e.BlockedBy = e.BlockedBy.clone()
	e.RemovedReferences = slices.Clone(e.RemovedReferences)
	e.Assumptions = slices.Clone(e.Assumptions)
	e.RecreatedBy = cloneRef(e.RecreatedBy)
	e.Once = slices.Clone(e.Once)
	e.Otherwise = slices.Clone(e.Otherwise)
	return e
}

func (t Taker) clone() Taker {
	t.Once = slices.Clone(t.Once)
	return t
}

func (c Consequence) clone() Consequence {
	c.After = slices.Clone(c.After)
	return c
}

func (b *BlockedBy) clone() *BlockedBy {
	if b == nil {
		return nil
	}
	c := *b
	c.Finalizers, c.Dependents, c.Conditions = slices.Clone(b.Finalizers), slices.Clone(b.Dependents), slices.Clone(b.Conditions)
	return &c
}

func (s Stuck) clone() Stuck {
	s.Because = slices.Clone(s.Because)
	return s
}

func (f Finding) clone() Finding {
	f.Reference = cloneRef(f.Reference)
	if f.ForSeconds != nil {
		f.ForSeconds = new(*f.ForSeconds)
	}
	f.Chain, f.Remedies = slices.Clone(f.Chain), slices.Clone(f.Remedies)
	f.Proof = cloneEach(f.Proof, Proof.clone)
	return f
}

func (f FinalizerFinding) clone() FinalizerFinding {
	f.Proof = cloneEach(f.Proof, Proof.clone)
	return f
}

func (p Proof) clone() Proof {
	p.Object = cloneRef(p.Object)
	return p
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
