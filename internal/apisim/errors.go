package apisim

import (
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// missing returns the error for an object that isn't stored: NotFound if the coverage is complete
// there or no object can have the name, *object.UncoveredError if it isn't, and
// *object.ImpossibleNameError if the name is a path of something else.
func (s *Server) missing(v *view, namespace, name string) error {
	switch answer := object.AnswerTo(v.resource, name); {
	case answer == object.NothingThere || answer == object.SomethingElse && s.odd[oddPlace{v.shelf, namespace, name}]:
		return notFound(v.gr, name)
	case answer == object.SomethingElse:
		return &object.ImpossibleNameError{Name: name}
	}
	if s.coverage != nil && !s.coverage.Covers(v.resource, namespace) {
		return &object.UncoveredError{
			Ref: object.Ref{APIVersion: v.requested, Kind: v.resource.Kind, Namespace: namespace, Name: name},
			Why: s.coverage.Why(v.resource, namespace),
		}
	}
	return notFound(v.gr, name)
}

// notFound is apierrors.NewNotFound without its formatting, for speed: a simulation requests very
// many deleted objects.
func notFound(gr schema.GroupResource, name string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Details: &metav1.StatusDetails{Group: gr.Group, Kind: gr.Resource, Name: name},
		Message: gr.String() + " " + strconv.Quote(name) + " not found",
	}}
}

// noPath returns the 404 of a server without the resource. Clients cannot tell it from an absent
// object. (spec §3.11)
func noPath() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Details: &metav1.StatusDetails{}, Message: "the server could not find the requested resource",
	}}
}

// versionOnCreate returns storage's error for a new object with a resourceVersion. The server
// passes it on unchanged.
//
// Upstream: apiserver/pkg/storage/errors.go ErrResourceVersionSetOnCreate.
func versionOnCreate() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
		Message: "resourceVersion should not be set on objects to be created",
	}}
}

// noMethod returns the 405 for a verb that the path doesn't support.
func noMethod() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed,
		Details: &metav1.StatusDetails{}, Message: "the server does not allow this method on the requested resource",
	}}
}

func unsupportedPatch() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " +
			"application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
	}}
}

func conflict(gr schema.GroupResource, name, message string) error {
	return apierrors.NewConflict(gr, name, reason(message))
}

func forbidden(gr schema.GroupResource, name, message string) *apierrors.StatusError {
	return apierrors.NewForbidden(gr, name, reason(message))
}

func (v *view) invalid(name string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: v.gr.Group, Kind: v.resource.Kind}, name, errs)
}

// versionRequired returns the error for an unconditional update of a kind that requires a
// resourceVersion. It names the resource where other errors name the kind.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go Store.Update.
// Rule: spec §2.4, S042.
func versionRequired(gr schema.GroupResource, name string) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: gr.Group, Kind: gr.Resource}, name, field.ErrorList{
		field.Invalid(metadata.Child("resourceVersion"), uint64(0), "must be specified for an update")})
}

// staleObject returns the conflict for a write that is based on an old version.
func (v *view) staleObject(name string) error {
	return conflict(v.gr, name, "the object has been modified; please apply your changes to the latest version and try again")
}

// storageConflict returns a failed precondition in storage's wording. what is UID or
// ResourceVersion.
func storageConflict[T ~string](gr schema.GroupResource, name, what string, wanted, stored T) error {
	return conflict(gr, name, "Precondition failed: "+what+" in precondition: "+string(wanted)+
		", "+what+" in object meta: "+string(stored))
}

func storageUIDConflict(gr schema.GroupResource, name string, wanted, stored types.UID) error {
	return storageConflict(gr, name, "UID", wanted, stored)
}

func storageRVConflict(gr schema.GroupResource, name, wanted, stored string) error {
	return storageConflict(gr, name, "ResourceVersion", wanted, stored)
}

// reason is an error message.
type reason string

func (r reason) Error() string { return string(r) }
