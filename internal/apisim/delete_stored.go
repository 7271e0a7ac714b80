package apisim

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// DeleteStored deletes the objects of a resource as the clean-up of custom resources does: directly
// in storage, without options and without admission. An empty namespace selects all namespaces. It
// stops at the first error other than NotFound.
//
// Upstream: apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go deleteInstances.
// Rule: spec §2.12, §6.2, S197.
func (s *Server) DeleteStored(ctx context.Context, gr schema.GroupResource, namespace string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.resources.Preferred(gr)
	if !ok {
		return noPath()
	}
	admission := s.admission
	s.admission = nil
	defer func() { s.admission = admission }()
	v := s.viewOf(r.APIVersion(), r.Kind)
	for _, old := range s.in(v.shelf, v.placeOf(namespace)) {
		if err := s.delete(v, old, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
