package snapshot

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Outline is what a dump names: enough to complete words by. Nothing may be judged by
// it.
type Outline struct {
	// Resources are the types that can be named.
	Resources *object.Resources

	objects []*object.Object
}

// ReadOutline reads files as ReadFiles does.
func ReadOutline(paths []string, o Options) (*Outline, error) {
	s, err := ReadFiles(paths, o)
	if err != nil {
		return nil, err
	}
	return &Outline{Resources: s.Resources, objects: s.Objects}, nil
}

// Holds reports whether there are objects of a type.
func (l *Outline) Holds(r object.Resource) bool { return len(l.ofType(r)) > 0 }

// ofType are the objects of a type, which follow one another.
func (l *Outline) ofType(r object.Resource) []*object.Object {
	first, _ := slices.BinarySearchFunc(l.objects, object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind},
		func(o *object.Object, ref object.Ref) int { return object.Compare(o.Ref, ref) })
	all := l.objects[first:]
	for i, o := range all {
		if o.Kind != r.Kind || o.APIVersion != r.APIVersion() {
			return all[:i]
		}
	}
	return all
}

// Names are the names of a type's objects that start with a prefix, sorted, in a
// namespace if objects of the type have one.
func (l *Outline) Names(r object.Resource, namespace, prefix string) []string {
	var names []string
	for _, o := range l.ofType(r) {
		if (!r.Namespaced || o.Namespace == namespace) && strings.HasPrefix(o.Name, prefix) {
			names = append(names, o.Name)
		}
	}
	return slices.Compact(names)
}

// Namespaces are the namespaces that objects are in, sorted.
func (l *Outline) Namespaces() []string {
	seen := map[string]bool{}
	for _, o := range l.objects {
		seen[o.Namespace] = true
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

// Find finds one object, with its finalizers and what a definition defines; nil if it is
// not there.
func (l *Outline) Find(r object.Resource, namespace, name string) *object.Object {
	for _, o := range l.ofType(r) {
		if (!r.Namespaced || o.Namespace == namespace) && o.Name == name {
			return o
		}
	}
	return nil
}
