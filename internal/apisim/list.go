package apisim

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Resources are the resources that the server was given. Callers must not change
// them.
func (s *Server) Resources() *object.Resources { return s.resources }

// ObjectsOf lists the objects of one resource by namespace and name, of one
// namespace only unless namespace is empty. Each is in the preferred version.
func (s *Server) ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index[gr]
	if !ok {
		return nil
	}
	return s.in(i, namespace)
}
