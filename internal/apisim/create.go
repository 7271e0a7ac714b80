package apisim

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// namespaceTerminatingCause is the cause that clients look for in a 403.
const namespaceTerminatingCause = metav1.CauseType("NamespaceTerminating")

// Create stores a new object and returns it with what the server filled in: a
// UID, a creation timestamp and, for some kinds, finalizers. A deletion
// timestamp and a grace period that the object brings are wiped; a
// resourceVersion is refused.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go Store.Create.
// Upstream: apiserver/pkg/registry/rest/create.go BeforeCreate.
// Rule: spec §2.1, §2.12.
func (s *Server) Create(ctx context.Context, o *object.Object) (*object.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, namespace, err := s.locate(o.Ref, object.Create)
	if err != nil {
		return nil, err
	}
	if v.resource.Custom && s.definitionTerminates(v) {
		return nil, s.refuseInstance(v, o.Name)
	}
	next := o.Clone()
	next.APIVersion, next.Kind, next.Namespace = v.stored, v.resource.Kind, namespace
	next.ResourceVersion, next.Created = "", s.now
	if next.Lifecycle != nil {
		life := next.Edit()
		life.DeletionTimestamp, life.GracePeriod = 0, nil
	}
	if dups := dedupOwners(next); len(dups) > 0 {
		s.warn(next.Ref, duplicates(dups))
	}
	if err := s.admitCreate(v, next); err != nil {
		return nil, err
	}
	if err := v.invalid(next.Name, validateCreate(v, next)); err != nil {
		return nil, err
	}
	s.warnOfFinalizers(v, nil, next)
	if version, err := strconv.ParseUint(o.ResourceVersion, 10, 64); err == nil && version != 0 {
		return nil, versionOnCreate()
	}
	if have := s.find(v.shelf, namespace, next.Name); have != nil {
		return nil, alreadyExists(v, have)
	}
	if !s.givenUIDs || next.UID == "" {
		s.uids++
		next.UID = types.UID(fmt.Sprintf("uid-%06d", s.uids))
	}
	return v.show(s.save(v, nil, next)), nil
}

// refuseInstance returns the error for creating an instance of a definition that is being deleted.
// Older releases return another error and still create the instance on apply.
//
// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go forbidCreateAdmission.
func (s *Server) refuseInstance(v *view, name string) error {
	const why = "create not allowed while custom resource definition is terminating"
	if s.rules.Follow(release.InstancesForbidden) {
		return forbidden(v.gr, name, why)
	}
	err := apierrors.NewMethodNotSupported(v.gr, "create")
	err.ErrStatus.Message = why
	return err
}

// admitCreate applies admission to a new object: its namespace must exist and not be terminating. A
// namespace, a PVC, a PV and a VolumeAttributesClass get their protection finalizers.
//
// Upstream: apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go Lifecycle.Admit.
// Upstream: plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go admitPV,
// admitPVC, admitVAC.
// Rule: spec §2.12, S219.
func (s *Server) admitCreate(v *view, o *object.Object) error {
	if v.resource.Namespaced {
		if err := s.namespaceAccepts(v, o); err != nil {
			return err
		}
	}
	switch v.gr {
	case object.Namespace.GroupResource():
		facts := object.NamespaceFacts{Phase: namespaceActive, Finalizers: o.NamespaceTokens()}
		if !slices.Contains(facts.Finalizers, object.NamespaceToken) {
			facts.Finalizers = append(slices.Clip(facts.Finalizers), object.NamespaceToken)
		}
		o.Edit().Facts = &facts
	case object.PVC.GroupResource():
		protect(o, "kubernetes.io/pvc-protection")
	case object.PV.GroupResource():
		protect(o, "kubernetes.io/pv-protection")
	case schema.GroupResource{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}:
		protect(o, "kubernetes.io/vac-protection")
	}
	return s.admit(object.Create, o)
}

func protect(o *object.Object, finalizer string) {
	if !o.HasFinalizer(finalizer) {
		life := o.Edit()
		life.Finalizers = append(slices.Clip(life.Finalizers), finalizer)
	}
}

// namespaceAccepts returns an error if the namespace of a new object is missing or terminating. A
// namespace outside the coverage is assumed to exist.
func (s *Server) namespaceAccepts(v *view, o *object.Object) error {
	ns, gone := s.namespaceOf(o)
	switch {
	case gone:
		return notFound(object.Namespace.GroupResource(), o.Namespace)
	case ns == nil:
		return nil
	}
	facts := ns.NamespaceFacts()
	if facts != nil && facts.Phase != namespaceTerminating || facts == nil && !ns.BeingDeleted() {
		return nil
	}
	err := forbidden(v.gr, o.Name, "unable to create new content in namespace "+o.Namespace+" because it is being terminated")
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    namespaceTerminatingCause,
		Message: "namespace " + o.Namespace + " is being terminated",
		Field:   "metadata.namespace",
	})
	return err
}

// namespaceOf returns the namespace of an object, nil if it isn't stored. gone is true if the
// namespace is known not to exist.
func (s *Server) namespaceOf(o *object.Object) (ns *object.Object, gone bool) {
	if i, ok := s.index[object.Namespace.GroupResource()]; ok {
		ns = s.find(i, "", o.Namespace)
	}
	if ns != nil {
		return ns, false
	}
	namespaces, served := s.resources.Preferred(object.Namespace.GroupResource())
	return nil, served && (s.coverage == nil || s.coverage.Covers(namespaces, ""))
}

// alreadyExists returns the AlreadyExists error. Its message says so if the stored object is being
// deleted.
func alreadyExists(v *view, have *object.Object) error {
	err := apierrors.NewAlreadyExists(v.gr, have.Name)
	if have.BeingDeleted() {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}
