package snapshot

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// NameList is the list of names in a dump, for shell completion. It proves nothing.
type NameList struct {
	// Resources are the types that can be named.
	Resources *object.Resources

	objects []*object.Object
}

// ReadNames reads files like ReadFiles.
func ReadNames(paths []string, o Options) (*NameList, error) {
	s, err := ReadFiles(paths, o)
	if err != nil {
		return nil, err
	}
	return &NameList{Resources: s.Resources, objects: s.Objects}, nil
}

// Holds reports whether there are objects of a type.
func (l *NameList) Holds(r object.Resource) bool { return len(l.ofType(r)) > 0 }

// ofType returns the objects of a type, which are adjacent.
func (l *NameList) ofType(r object.Resource) []*object.Object {
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

// Names returns the names of a type's objects with a prefix, sorted. For a namespaced type, only
// those in the namespace.
func (l *NameList) Names(r object.Resource, namespace, prefix string) []string {
	var names []string
	for _, o := range l.ofType(r) {
		if (!r.Namespaced || o.Namespace == namespace) && strings.HasPrefix(o.Name, prefix) {
			names = append(names, o.Name)
		}
	}
	return slices.Compact(names)
}

// Namespaces returns the namespaces with objects, sorted.
func (l *NameList) Namespaces() []string {
	seen := map[string]bool{}
	for _, o := range l.objects {
		seen[o.Namespace] = true
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

// Find returns an object, with its finalizers and the facts of a definition; nil if it doesn't
// exist.
func (l *NameList) Find(r object.Resource, namespace, name string) *object.Object {
	for _, o := range l.ofType(r) {
		if (!r.Namespaced || o.Namespace == namespace) && o.Name == name {
			return o
		}
	}
	return nil
}
