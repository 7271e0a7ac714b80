package apisim

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Get returns the object at the coordinates of ref, whatever its UID, in the version that ref
// names. Errors are *object.UnknownKindError, *object.NamespaceRequiredError,
// *object.UncoveredError or the API's NotFound. Only NotFound means that the object doesn't exist.
// (spec §3.11)
func (s *Server) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, namespace, err := s.locate(ref, object.Get)
	if err != nil {
		return nil, err
	}
	o := s.find(v.shelf, namespace, ref.Name)
	if o == nil {
		return nil, s.missing(v, namespace, ref.Name)
	}
	return v.show(o), nil
}

// Objects lists all objects by group, resource, namespace and name, each in the preferred version
// of its resource.
func (s *Server) Objects() []*object.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all()
}

// List calls yield for each object, in the order of Objects, until it returns false. It iterates
// over a snapshot: later requests don't change it.
func (s *Server) List(yield func(*object.Object) bool) {
	for _, o := range s.Objects() {
		if !yield(o) {
			return
		}
	}
}

// Lingering lists the pods that are being deleted and still have a grace period: the kubelets'
// work. (spec §2.9)
func (s *Server) Lingering() []object.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index[object.Pod.GroupResource()]
	if !ok {
		return nil
	}
	var refs []object.Ref
	for _, o := range s.in(i, "", all) {
		if grace := o.GracePeriod(); o.BeingDeleted() && grace != nil && *grace > 0 {
			refs = append(refs, o.Ref)
		}
	}
	return refs
}

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
	return s.in(i, namespace, match)
}
