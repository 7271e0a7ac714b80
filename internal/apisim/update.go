package apisim

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Update replaces an object (PUT) and returns the server's answer. An empty resourceVersion makes
// the update unconditional if the resource allows that. An empty UID is filled in. Kind-specific
// facts that the given object lacks stay as stored. There is no status subresource: one request may
// change what a real server accepts through /status, except spec.finalizers of a namespace, which
// only Finalize changes.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go Store.Update.
// Rule: spec §2.4, §2.5.
func (s *Server) Update(ctx context.Context, o *object.Object) (*object.Object, error) {
	return s.update(ctx, o, false)
}

// Finalize replaces a namespace with its spec.finalizers (PUT …/finalize).
//
// Upstream: pkg/registry/core/namespace/strategy.go namespaceFinalizeStrategy.PrepareForUpdate.
// Upstream: pkg/registry/core/namespace/storage/storage.go ShouldDeleteNamespaceDuringUpdate.
// Rule: spec §5.1, S205, S206.
func (s *Server) Finalize(ctx context.Context, o *object.Object) (*object.Object, error) {
	return s.update(ctx, o, true)
}

func (s *Server) update(ctx context.Context, o *object.Object, finalize bool) (*object.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, namespace, err := s.locate(o.Ref, object.Update)
	if err != nil {
		return nil, err
	}
	if finalize && v.gr != object.Namespace.GroupResource() {
		return nil, noPath()
	}
	old := s.find(v.shelf, namespace, o.Name)
	if old == nil {
		return nil, s.missing(v, namespace, o.Name)
	}
	next := o.Clone()
	next.APIVersion, next.Kind, next.Namespace = old.APIVersion, old.Kind, old.Namespace
	if dups := dedupOwners(next); len(dups) > 0 {
		s.warn(next.Ref, duplicates(dups))
	}
	keepFacts(old, next, finalize)
	switch {
	case o.UID != "" && o.UID != old.UID:
		return nil, storageUIDConflict(v.gr, o.Name, o.UID, old.UID)
	case o.ResourceVersion == "" && old.ResourceVersion != "" && !updatesUnconditionally(v): // a dump may have no versions
		return nil, versionRequired(v.gr, o.Name)
	case o.ResourceVersion != "" && o.ResourceVersion != old.ResourceVersion:
		return nil, v.staleObject(o.Name)
	}
	stored, err := s.change(v, old, next)
	if err != nil {
		return nil, err
	}
	return v.show(stored), nil
}

// keepFacts copies the facts that the request leaves out or may not change from old to next.
func keepFacts(old, next *object.Object, finalize bool) {
	if old.Lifecycle == nil && next.Lifecycle == nil {
		return
	}
	life := next.Edit()
	switch asked := life.Facts.(type) {
	case nil:
		life.Facts = old.Facts()
	case *object.NamespaceFacts:
		life.Facts = namespaceAfter(old, *asked, finalize)
	}
}

// namespaceAfter returns the facts of a namespace after an update. Finalize changes only
// spec.finalizers, an update only the phase.
func namespaceAfter(old *object.Object, asked object.NamespaceFacts, finalize bool) *object.NamespaceFacts {
	stored := object.NamespaceFacts{Finalizers: old.NamespaceTokens()}
	if facts := old.NamespaceFacts(); facts != nil {
		stored.Phase = facts.Phase
	}
	switch {
	case finalize:
		stored.Finalizers = asked.Finalizers
	case asked.Phase != "":
		stored.Phase = asked.Phase
	}
	return &stored
}

// change carries out an update or a patch: next is old with the requested changes. It returns the
// stored object, or next if the change completes the deletion.
//
// Upstream: apiserver/pkg/registry/rest/update.go BeforeUpdate.
// Upstream: apiserver/pkg/registry/generic/registry/store.go ShouldDeleteDuringUpdate.
// Rule: spec §2.4, §2.5, S023–S026, S030–S034, S041.
func (s *Server) change(v *view, old, next *object.Object) (*object.Object, error) {
	next.ResourceVersion = old.ResourceVersion
	next.Created, next.Generation = old.Created, old.Generation
	if next.UID == "" {
		next.UID = old.UID
	}
	if old.BeingDeleted() || old.GracePeriod() != nil || next.GracePeriod() != nil {
		life := next.Edit()
		if old.BeingDeleted() {
			life.DeletionTimestamp = old.DeletionTimestamp()
		}
		if life.GracePeriod == nil {
			life.GracePeriod = old.GracePeriod()
		}
	}
	if err := v.invalid(old.Name, validateUpdate(v, old, next)); err != nil {
		return nil, err
	}
	s.warnOfFinalizers(v, old.Finalizers(), next)
	if err := s.admitUpdate(v, old); err != nil {
		return nil, err
	}
	if completesDeletion(v, old, next) {
		s.remove(v, old)
		return next, nil
	}
	return s.save(v, old, next), nil
}

// admitUpdate applies admission to an update. In older releases, the object's namespace must exist.
//
// Upstream: apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go Lifecycle.Admit.
func (s *Server) admitUpdate(v *view, old *object.Object) error {
	if v.resource.Namespaced && !s.rules.Follow(release.UpdatesWithoutNamespace) {
		if _, gone := s.namespaceOf(old); gone {
			return notFound(object.Namespace.GroupResource(), old.Namespace)
		}
	}
	return s.admit(object.Update, old)
}

// completesDeletion reports whether the change removes the last obstacle to the deletion. The grace
// period of old must be over.
func completesDeletion(v *view, old, next *object.Object) bool {
	if len(next.Finalizers()) > 0 || !old.BeingDeleted() {
		return false
	}
	if grace := old.GracePeriod(); grace != nil && *grace != 0 {
		return false
	}
	return v.gr != object.Namespace.GroupResource() || len(next.NamespaceTokens()) == 0
}

// updatesUnconditionally reports whether a PUT may omit the resourceVersion.
//
// Upstream: pkg/registry/*/*/strategy.go AllowUnconditionalUpdate.
// Upstream: apiextensions-apiserver/pkg/registry/*/strategy.go AllowUnconditionalUpdate.
// Upstream: kube-aggregator/pkg/registry/*/strategy.go AllowUnconditionalUpdate.
// Rule: spec §2.4, S042.
func updatesUnconditionally(v *view) bool {
	if v.resource.Custom {
		return false
	}
	switch v.gr {
	case object.CRD.GroupResource(),
		object.APIService.GroupResource(),
		object.Lease.GroupResource(),
		schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"},
		object.CSINode.GroupResource(),
		schema.GroupResource{Group: "storage.k8s.io", Resource: "csidrivers"},
		object.VolumeAttachment.GroupResource(),
		schema.GroupResource{Group: "node.k8s.io", Resource: "runtimeclasses"}:
		return false
	}
	return v.gr.Group != "admissionregistration.k8s.io"
}
