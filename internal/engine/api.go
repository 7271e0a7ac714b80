package engine

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// API is the part of an API server that the collector needs. Errors are those of a real server
// (apierrors). object.UnknownKindError, object.NamespaceRequiredError and object.UncoveredError
// mean that a request cannot be made or answered.
type API interface {
	Reader
	Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error
	Patch(ctx context.Context, ref object.Ref, p object.Patch) error
}

// Reader is the read-only part of an API.
type Reader interface {
	// Resource returns the resource that serves an apiVersion and kind.
	Resource(apiVersion, kind string) (object.Resource, error)
	// Get reads an object by its coordinates and ignores the UID of ref.
	Get(ctx context.Context, ref object.Ref) (*object.Object, error)
}

// Rules say how the absence of an owner is judged.
type Rules uint8

const (
	// Upstream behaves like the collector of Kubernetes: for prediction.
	Upstream Rules = iota
	// Strict keeps objects that upstream is known to delete wrongly: for our own writes. See
	// strict.go.
	Strict
)

// String returns the name used in plans.
func (r Rules) String() string {
	if r == Strict {
		return "strict"
	}
	return "upstream"
}
