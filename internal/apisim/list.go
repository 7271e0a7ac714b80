package apisim

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Resources returns the resources that the server was given. Callers must not change them.
func (s *Server) Resources() *object.Resources { return s.resources }

// Covers reports whether an existing object of the resource in the namespace would be known to the
// server. Without a Coverage, it always would.
func (s *Server) Covers(r object.Resource, namespace string) bool {
	return s.coverage == nil || s.coverage.Covers(r, namespace)
}

// Why returns the reason of a gap in the coverage, for people; "" if there is none.
func (s *Server) Why(r object.Resource, namespace string) string {
	if s.coverage == nil {
		return ""
	}
	return s.coverage.Why(r, namespace)
}

// ObjectsOf lists the objects of one resource, sorted by namespace and name. An empty namespace
// means all. Each object is in the preferred version.
func (s *Server) ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object {
	return s.Select(gr, namespace, all)
}

// Select is ObjectsOf for the objects that match. It sorts only these, so that finding few among
// many is cheap. match must not call the server.
func (s *Server) Select(gr schema.GroupResource, namespace string, match func(*object.Object) bool) []*object.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index[gr]
	if !ok {
		return nil
	}
	sh := s.shelves[i]
	if namespace != "" {
		return sh.namespaces[namespace].matching(match, nil)
	}
	var list []*object.Object
	for _, ns := range sh.order {
		list = sh.namespaces[ns].matching(match, list)
	}
	return list
}
