package snapshot

import (
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// StoredObject is one object as our own format has it, with its kind: for files that are not
// a whole snapshot.
type StoredObject struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Rest       storedObject `json:"rest"`
}

// StoreObject is how an object is stored.
func StoreObject(o *object.Object) *StoredObject {
	s := &StoredObject{APIVersion: o.APIVersion, Kind: o.Kind}
	s.Rest.take(o, 0)
	return s
}

// Object is the object that was stored, its repeated strings shared.
func (s *StoredObject) Object(intern *manifest.Interner) *object.Object {
	return s.Rest.object(typeName{intern.String(s.APIVersion), intern.String(s.Kind)}, intern)
}

// StoredResource is a resource as our own format has it.
type StoredResource storedResource

// StoreResource is how a resource is stored.
func StoreResource(r object.Resource) StoredResource { return StoredResource(storedResourceOf(r)) }

// StoreResources is how resources are stored.
func StoreResources(rs *object.Resources) []StoredResource {
	stored := make([]StoredResource, 0, len(rs.All()))
	for _, r := range rs.All() {
		stored = append(stored, StoreResource(r))
	}
	return stored
}

// Resource is the resource that was stored.
func (r StoredResource) Resource() object.Resource { return storedResource(r).resource() }
