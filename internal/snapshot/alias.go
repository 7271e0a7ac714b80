package snapshot

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Alike returns the resource that stores the objects of an unmapped kind, if that kind is served at
// all: in another version, or in the group that it has moved to. It returns false if all kinds are
// known.
func (s *Snapshot) Alike(apiVersion, kind string) (object.Resource, bool) {
	if s.KnowsAllKinds() || s.isWithdrawn(apiVersion, kind) {
		return object.Resource{}, false
	}
	group := object.GroupOf(apiVersion)
	for _, r := range s.Resources.All() {
		to := object.Storage(r.GroupResource())
		if r.Kind == kind && r.Served() && object.Storage(schema.GroupResource{Group: group, Resource: r.Name}) == to {
			return s.canonicalOf(typeName{r.APIVersion(), r.Kind}).resource, true
		}
	}
	return object.Resource{}, false
}
