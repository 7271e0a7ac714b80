package apisim

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const (
	namespaceActive      = "Active"
	namespaceTerminating = "Terminating"
)

// deleteNamespace is the delete handler of namespaces. The first delete only marks the namespace:
// its controller deletes the content. While spec.finalizers isn't empty, further deletes change
// nothing.
//
// Upstream: pkg/registry/core/namespace/storage/storage.go REST.Delete.
// Rule: spec §5.1, S200–S203, S208, S209, S218.
func (s *Server) deleteNamespace(v *view, old *object.Object, o metav1.DeleteOptions) error {
	if err := checkStoragePreconditions(v, old, o.Preconditions); err != nil {
		return err
	}
	if old.BeingDeleted() {
		if len(old.NamespaceTokens()) > 0 {
			return nil
		}
		if err := refuseImmortal(v, old); err != nil {
			return err
		}
		return s.delete(v, old, o)
	}
	if err := refuseImmortal(v, old); err != nil {
		return err
	}
	if err := s.admit(object.Delete, old); err != nil {
		return err
	}
	next := old.Clone()
	life := next.Edit()
	life.DeletionTimestamp = s.now
	life.Facts = &object.NamespaceFacts{Phase: namespaceTerminating, Finalizers: old.NamespaceTokens()}
	life.Finalizers = namespaceFinalizers(old.Finalizers(), o)
	if len(o.DryRun) == 0 {
		s.save(v, old, next)
	}
	return nil
}

// namespaceFinalizers returns the finalizers after a delete of a namespace. Unlike for other
// resources, orphanDependents=false requests foreground deletion.
func namespaceFinalizers(existing []string, o metav1.DeleteOptions) []string {
	var orphan, foreground bool
	switch {
	case o.OrphanDependents != nil:
		orphan, foreground = *o.OrphanDependents, !*o.OrphanDependents
	case o.PropagationPolicy != nil:
		orphan = *o.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *o.PropagationPolicy == metav1.DeletePropagationForeground
	default:
		return existing
	}
	var list []string
	for _, name := range existing {
		if name == object.Orphan && !orphan || name == object.Foreground && !foreground {
			continue
		}
		list = append(list, name)
	}
	if orphan && !slices.Contains(list, object.Orphan) {
		list = append(list, object.Orphan)
	}
	if foreground && !slices.Contains(list, object.Foreground) {
		list = append(list, object.Foreground)
	}
	return list
}

// refuseImmortal returns the admission error for the three namespaces that every cluster needs.
// (spec §2.12 NamespaceLifecycle, S218)
func refuseImmortal(v *view, o *object.Object) error {
	if Immortal(o.Name) {
		return forbidden(v.gr, o.Name, "this namespace may not be deleted")
	}
	return nil
}

// Immortal reports whether API servers refuse to delete the namespace.
func Immortal(namespace string) bool {
	return namespace == metav1.NamespaceDefault || namespace == metav1.NamespaceSystem || namespace == metav1.NamespacePublic
}

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
