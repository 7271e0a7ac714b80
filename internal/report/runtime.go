package report

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is APIVersion in two parts.
var GroupVersion = schema.GroupVersion{Group: "kubectl-gc.io", Version: "v1alpha1"}

// Scheme has the kinds of the documents and no others. It is read-only.
var Scheme = newScheme()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(GroupVersion, &Plan{}, &Explanation{}, &Diagnosis{}, &Graph{}, &Run{}, &Undo{}, &Risk{}, &Checkup{}, &Lost{}, &Version{}, &Backups{})
	return s
}

// typeFields reads and writes the fields apiVersion and kind of a document as a GroupVersionKind.
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
func (b *Backups) GetObjectKind() schema.ObjectKind { return typeFields{&b.APIVersion, &b.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (b *Backups) DeepCopyObject() runtime.Object { return deepCopy(b) }

// GetObjectKind gives printers the apiVersion and kind.
func (p *Plan) GetObjectKind() schema.ObjectKind { return typeFields{&p.APIVersion, &p.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (p *Plan) DeepCopyObject() runtime.Object { return deepCopy(p) }

// GetObjectKind gives printers the apiVersion and kind.
func (e *Explanation) GetObjectKind() schema.ObjectKind { return typeFields{&e.APIVersion, &e.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (e *Explanation) DeepCopyObject() runtime.Object { return deepCopy(e) }

// GetObjectKind gives printers the apiVersion and kind.
func (d *Diagnosis) GetObjectKind() schema.ObjectKind { return typeFields{&d.APIVersion, &d.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (d *Diagnosis) DeepCopyObject() runtime.Object { return deepCopy(d) }

// GetObjectKind gives printers the apiVersion and kind.
func (g *Graph) GetObjectKind() schema.ObjectKind { return typeFields{&g.APIVersion, &g.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (g *Graph) DeepCopyObject() runtime.Object { return deepCopy(g) }

// GetObjectKind gives printers the apiVersion and kind.
func (r *Run) GetObjectKind() schema.ObjectKind { return typeFields{&r.APIVersion, &r.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (r *Run) DeepCopyObject() runtime.Object { return deepCopy(r) }

// GetObjectKind gives printers the apiVersion and kind.
func (u *Undo) GetObjectKind() schema.ObjectKind { return typeFields{&u.APIVersion, &u.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (u *Undo) DeepCopyObject() runtime.Object { return deepCopy(u) }

// GetObjectKind gives printers the apiVersion and kind.
func (r *Risk) GetObjectKind() schema.ObjectKind { return typeFields{&r.APIVersion, &r.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (r *Risk) DeepCopyObject() runtime.Object { return deepCopy(r) }

// GetObjectKind gives printers the apiVersion and kind.
func (c *Checkup) GetObjectKind() schema.ObjectKind { return typeFields{&c.APIVersion, &c.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (c *Checkup) DeepCopyObject() runtime.Object { return deepCopy(c) }

// deepCopy returns a deep copy of a document. Documents consist of structs, pointers, lists and
// plain values. A copy through JSON would change names that are not UTF-8. (docs/adr/0031)
func deepCopy[T any](document *T) *T {
	c := *document
	unshare(reflect.ValueOf(&c).Elem())
	return &c
}

// unshare replaces each pointer and list by a copy.
func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			unshare(c.Elem())
			v.Set(c)
		}
	case reflect.Slice:
		if !v.IsNil() {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			for i := range c.Len() {
				unshare(c.Index(i))
			}
			v.Set(c)
		}
	case reflect.Struct:
		for i := range v.NumField() { //nolint:modernize // Fields allocates, for each of 100,000 effects
			unshare(v.Field(i))
		}
	}
}
