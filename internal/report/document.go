// Package report holds the documents that commands answer with, such as Plan, Explanation,
// Diagnosis and Graph, in version kubectl-gc.io/v1alpha1. The packages that judge produce them,
// package render prints them. They are a contract: fields are only ever added. (docs/output.md)
//
// Every list is sorted by (apiVersion, kind, namespace, name, uid) unless it is
// a sequence in time. Nothing in a document depends on the clock, on map order
// or on the terminal.
package report

import (
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Plural returns a number with its noun: "1 kind", "3 kinds".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// FirstNames returns the first few of many names, and the number of the others: "a, b and 3 more".
func FirstNames(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if left := len(names) - most; left > 0 {
		text += " and " + strconv.Itoa(left) + " more"
	}
	return text
}

// APIVersion is the apiVersion of every document.
const APIVersion = "kubectl-gc.io/v1alpha1"

// Source says what a document was computed from.
type Source struct {
	// Type is "files" or "cluster".
	Type       string    `json:"type"`
	Context    string    `json:"context,omitempty"`
	Server     string    `json:"server,omitempty"`
	ClusterUID types.UID `json:"clusterUID,omitempty"`
	// KubernetesVersion is the version that the server reports.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// VersionAtLeast and VersionAtMost bound the release, such as v1.27, of a server that does not
	// report its version. Each is absent if it is unknown.
	VersionAtLeast string `json:"versionAtLeast,omitempty"`
	VersionAtMost  string `json:"versionAtMost,omitempty"`
	// VersionFrom is the evidence of the version or its bounds.
	VersionFrom []string `json:"versionFrom,omitempty"`
	// Rules is the release that this answer follows, such as v1.33: that of the server, or the
	// nearest that was measured. For a server that does not report its version it is the newest.
	Rules string `json:"rules,omitempty"`
	// VersionDifferences are the differences between the release of the server and the newest that
	// concern this answer.
	VersionDifferences []VersionDifference `json:"versionDifferences,omitempty"`
	TakenAt            string              `json:"takenAt,omitempty"`
	Files              []string            `json:"files,omitempty"`
	// Namespaces are the only namespaces that were read, in addition to cluster-scoped objects;
	// empty for all.
	Namespaces []string `json:"namespaces,omitempty"`
}

// VersionDifference is a difference between the release of a server and the newest.
type VersionDifference struct {
	Reason string `json:"reason"`
	// Before is the first release, such as v1.33, that behaves as the newest does.
	Before string `json:"before"`
	// Simulated is true if this answer follows the release of the server. If not, what depends on
	// the difference is Unknown.
	Simulated bool `json:"simulated"`
}

// Gap is a list that the snapshot does not contain, or not completely.
type Gap struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Resource   string `json:"resource"`
	// Namespace is empty if the gap concerns the whole cluster.
	Namespace string `json:"namespace,omitempty"`
	Why       string `json:"why"`
	// Matters is true if an object in the gap could change the answer.
	Matters bool `json:"matters,omitempty"`
}

// GroupVersion is APIVersion in two parts.
var GroupVersion = schema.GroupVersion{Group: "kubectl-gc.io", Version: "v1alpha1"}

// Scheme has the kinds of the documents and no others. It is read-only.
var Scheme = newScheme()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(GroupVersion, &Plan{}, &Explanation{}, &Diagnosis{}, &Graph{}, &Run{}, &Undo{}, &Risk{}, &Checkup{}, &Lost{}, &Version{}, &Backups{})
	return s
}

// Header begins every document. (metav1.TypeMeta has its fields in another order.)
type Header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// HeaderOf returns the header of a document of a kind.
func HeaderOf(kind string) Header { return Header{APIVersion: APIVersion, Kind: kind} }

// GetObjectKind gives printers the apiVersion and kind.
func (h *Header) GetObjectKind() schema.ObjectKind { return h }

// SetGroupVersionKind writes both fields.
func (h *Header) SetGroupVersionKind(gvk schema.GroupVersionKind) {
	h.APIVersion, h.Kind = gvk.ToAPIVersionAndKind()
}

// GroupVersionKind reads both fields.
func (h *Header) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(h.APIVersion, h.Kind)
}

// DeepCopyObject returns a copy that shares no memory that can be written.
func (b *Backups) DeepCopyObject() runtime.Object { return deepCopy(b) }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (p *Plan) DeepCopyObject() runtime.Object { return deepCopy(p) }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (e *Explanation) DeepCopyObject() runtime.Object { return deepCopy(e) }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (d *Diagnosis) DeepCopyObject() runtime.Object { return deepCopy(d) }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (g *Graph) DeepCopyObject() runtime.Object { return deepCopy(g) }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (r *Run) DeepCopyObject() runtime.Object { return deepCopy(r) }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (u *Undo) DeepCopyObject() runtime.Object { return deepCopy(u) }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (r *Risk) DeepCopyObject() runtime.Object { return deepCopy(r) }

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
