package apisim

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Get returns the object at the coordinates of ref, whatever its UID, in the
// version that ref names. It answers with an *object.UnknownKindError, an
// *object.NamespaceRequiredError, an *object.UncoveredError or the API's own
// NotFound; only the last one says that the object does not exist.
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

// Objects lists the world by group, resource, namespace and name, each object
// in the preferred version of its resource.
func (s *Server) Objects() []*object.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all()
}

// List calls yield for each object in the order of Objects until it returns
// false. Requests made meanwhile do not change what is listed.
func (s *Server) List(yield func(*object.Object) bool) {
	for _, o := range s.Objects() {
		if !yield(o) {
			return
		}
	}
}

// Lingering lists the pods that are being deleted and have a grace period left:
// what a kubelet has to finish. (spec §2.9)
func (s *Server) Lingering() []object.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index[object.Pod.GroupResource()]
	if !ok {
		return nil
	}
	var refs []object.Ref
	for _, o := range s.in(i, "") {
		if grace := o.GracePeriod(); o.BeingDeleted() && grace != nil && *grace > 0 {
			refs = append(refs, o.Ref)
		}
	}
	return refs
}
