package apisim

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const jobsKeepPods = "child pods are preserved by default when jobs are deleted; " +
	"set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

// Delete deletes the object at the coordinates of ref. It compares the UID only if the options'
// preconditions give one. A nil error means that the request was accepted: the object may be
// deleted, may wait for its finalizers or its grace period, or may be unchanged.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go Store.Delete.
// Rule: spec §2.6.
func (s *Server) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, namespace, err := s.locate(ref, object.Delete)
	if err != nil {
		return err
	}
	if err := checkDeleteOptions(o); err != nil {
		return err
	}
	old := s.find(v.shelf, namespace, ref.Name)
	s.warnOfJobs(v, ref, o)
	switch v.gr {
	case object.PriorityClass.GroupResource():
		if isSystemClass(ref.Name) {
			return forbidden(v.gr, ref.Name, "this is a system priority class and cannot be deleted")
		}
	case object.Namespace.GroupResource():
		if old != nil {
			return s.deleteNamespace(v, old, o)
		}
	case object.CRD.GroupResource():
		if old != nil {
			return s.deleteDefinition(v, old, o)
		}
	}
	if old == nil {
		return s.missing(v, namespace, ref.Name)
	}
	return s.delete(v, old, o)
}

// DeleteCollection deletes the objects of a resource that match the selector, one after the other.
// It stops at the first error other than NotFound; earlier deletes are not undone. A namespaced
// resource needs a namespace: the API has no such request for all namespaces.
//
// As in the real server, the check for system priority classes and the first step of deleting a
// definition are skipped: they belong to the delete of a single object.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go Store.DeleteCollection.
// Rule: spec §2.10, S043, S044.
func (s *Server) DeleteCollection(ctx context.Context, r object.Resource, namespace string, selector labels.Selector, o metav1.DeleteOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.viewOf(r.APIVersion(), r.Kind)
	switch {
	case !v.known:
		return &object.UnknownKindError{APIVersion: r.APIVersion(), Kind: r.Kind}
	case !v.resource.Served():
		return noPath()
	case !v.resource.Verbs.Has(object.DeleteCollection):
		return noMethod()
	case v.resource.Namespaced && namespace == "":
		return noMethod()
	}
	if err := checkDeleteOptions(o); err != nil {
		return err
	}
	s.warnOfJobs(v, object.Ref{APIVersion: v.requested, Kind: v.resource.Kind, Namespace: namespace}, o)
	for _, old := range s.in(v.shelf, v.placeOf(namespace), all) {
		if selector != nil && !selector.Matches(old.Labels) {
			continue
		}
		if err := s.delete(v, old, o); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// delete implements the deletion that all resources share. The object is removed at once, or marked
// as being deleted and kept for its finalizers or its grace period.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go Store.Delete,
// Store.updateForGracefulDeletionAndFinalizers.
// Rule: spec §2.6 D3–D7.
func (s *Server) delete(v *view, old *object.Object, o metav1.DeleteOptions) error {
	if err := checkPreconditions(v, old, o.Preconditions); err != nil {
		return err
	}
	how, next, left := s.preflight(v, old, o)
	if how == pending {
		return nil
	}
	finalizers := old.Finalizers()
	if s.collects {
		finalizers, _ = GCFinalizers(finalizers, o, DefaultFor(v.gr, v.resource.Version))
	}
	if err := s.admit(object.Delete, old); err != nil {
		return err
	}
	dry := len(o.DryRun) > 0
	if how == graceful {
		if dry {
			return nil
		}
		next.Lifecycle.Finalizers = finalizers // this Lifecycle is the draft
		s.keepDraft(old, next)
		stored := s.save(v, old, next)
		if len(finalizers) == 0 && left == 0 {
			s.remove(v, stored)
		}
		return nil
	}
	switch {
	case dry:
		return nil
	case len(finalizers) > 0:
		s.save(v, old, markDeleting(old, finalizers, s.now))
		return nil
	case len(old.Finalizers()) > 0 && o.Preconditions != nil && o.Preconditions.ResourceVersion != nil:
		// The server replaces the precondition's version by that of a write that it never made.
		// (spec §2.6 "server bug", S020)
		return storageRVConflict(v.gr, old.Name, "", old.ResourceVersion)
	}
	s.remove(v, old)
	return nil
}

// checkDeleteOptions refuses contradictory options before any lookup. (spec §2.6 D0, S015, S016)
func checkDeleteOptions(o metav1.DeleteOptions) error {
	if o.OrphanDependents == nil && len(o.DryRun) == 0 && o.IgnoreStoreReadErrorWithClusterBreakingPotential == nil &&
		(o.PropagationPolicy == nil || *o.PropagationPolicy == metav1.DeletePropagationBackground) {
		return nil // the collector's delete: millions of them
	}
	return validateDeleteOptions(o.DeepCopy())
}

func validateDeleteOptions(o *metav1.DeleteOptions) error {
	errs := validation.ValidateDeleteOptions(o)
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
}

// checkPreconditions compares the UID and the resourceVersion if the options give them.
// (spec §2.6 D3.1, S017, S018)
func checkPreconditions(v *view, o *object.Object, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	kind := schema.GroupResource{Group: v.gr.Group, Resource: v.resource.Kind}
	if p.UID != nil && *p.UID != o.UID {
		return conflict(kind, o.Name, "the UID in the precondition ("+string(*p.UID)+
			") does not match the UID in record ("+string(o.UID)+"). The object might have been deleted and then recreated")
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != o.ResourceVersion {
		return conflict(kind, o.Name, "the ResourceVersion in the precondition ("+*p.ResourceVersion+
			") does not match the ResourceVersion in record ("+o.ResourceVersion+"). The object might have been modified")
	}
	return nil
}

// checkStoragePreconditions is checkPreconditions with the messages of the storage layer.
func checkStoragePreconditions(v *view, o *object.Object, p *metav1.Preconditions) error {
	switch {
	case p == nil:
		return nil
	case p.UID != nil && *p.UID != o.UID:
		return storageUIDConflict(v.gr, o.Name, *p.UID, o.UID)
	case p.ResourceVersion != nil && *p.ResourceVersion != o.ResourceVersion:
		return storageRVConflict(v.gr, o.Name, *p.ResourceVersion, o.ResourceVersion)
	default:
		return nil
	}
}

// warnOfJobs adds the warning for a delete that orphans the pods of a job by default.
// (spec §2.8, S005)
func (s *Server) warnOfJobs(v *view, ref object.Ref, o metav1.DeleteOptions) {
	if v.gr == object.Job.GroupResource() && o.PropagationPolicy == nil && o.OrphanDependents == nil &&
		DefaultFor(v.gr, v.resource.Version) == OrphanDefault {
		s.warn(ref, jobsKeepPods)
	}
}

// isSystemClass reports whether a PriorityClass belongs to the server itself.
// (spec §2.6 D1, S047)
func isSystemClass(name string) bool {
	return slices.Contains([]string{"system-cluster-critical", "system-node-critical"}, name)
}

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
	for _, old := range s.in(v.shelf, v.placeOf(namespace), all) {
		if err := s.delete(v, old, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
