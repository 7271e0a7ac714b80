package apisim

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// definitionCleanup is the finalizer that keeps a CustomResourceDefinition until its instances are
// deleted.
const definitionCleanup = "customresourcecleanup.apiextensions.k8s.io"

// deleteDefinition is the delete handler of CustomResourceDefinitions. The first delete ignores the
// propagation policy: it sets the deletion timestamp and adds the clean-up finalizer. Further
// deletes are ordinary.
//
// Upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition/etcd.go REST.Delete.
// Rule: spec §6.1, S194, S195.
func (s *Server) deleteDefinition(v *view, old *object.Object, o metav1.DeleteOptions) error {
	if err := checkStoragePreconditions(v, old, o.Preconditions); err != nil {
		return err
	}
	if old.BeingDeleted() {
		return s.delete(v, old, o)
	}
	if err := s.admit(object.Delete, old); err != nil {
		return err
	}
	next := old.Clone()
	life := next.Edit()
	life.DeletionTimestamp = s.now
	if !next.HasFinalizer(definitionCleanup) {
		life.Finalizers = append(slices.Clip(life.Finalizers), definitionCleanup)
	}
	if d := old.Definition(); d != nil {
		facts := *d
		facts.Terminating = true
		life.Facts = &facts
	}
	if len(o.DryRun) == 0 {
		s.save(v, old, next)
	}
	return nil
}

// definitionTerminates reports whether the definition of a custom resource is being deleted.
func (s *Server) definitionTerminates(v *view) bool {
	i, ok := s.index[object.CRD.GroupResource()]
	if !ok {
		return false
	}
	o := s.find(i, "", v.gr.Resource+"."+v.gr.Group)
	if o == nil {
		return false
	}
	if facts := o.Definition(); facts != nil {
		return facts.Terminating
	}
	return o.BeingDeleted()
}
