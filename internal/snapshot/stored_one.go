package snapshot

import (
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// StoredObject is one object in our own format, with its kind: for files that are not a whole
// snapshot.
type StoredObject struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Rest       storedObject `json:"rest"`
}

// StoreObject returns the stored form of an object.
func StoreObject(o *object.Object) *StoredObject {
	s := &StoredObject{APIVersion: o.APIVersion, Kind: o.Kind}
	s.Rest.take(o, 0)
	return s
}

// Object returns the stored object, with repeated strings interned.
func (s *StoredObject) Object(intern *manifest.Interner) *object.Object {
	return s.Rest.object(typeName{intern.String(s.APIVersion), intern.String(s.Kind)}, intern)
}

// StoredResource is a resource in our own format.
type StoredResource storedResource

// StoreResource returns the stored form of a resource.
func StoreResource(r object.Resource) StoredResource { return StoredResource(storedResourceOf(r)) }

// StoreResources returns the stored form of resources.
func StoreResources(rs *object.Resources) []StoredResource {
	stored := make([]StoredResource, 0, len(rs.All()))
	for _, r := range rs.All() {
		stored = append(stored, StoreResource(r))
	}
	return stored
}

// Resource returns the stored resource.
func (r StoredResource) Resource() object.Resource { return storedResource(r).resource() }
