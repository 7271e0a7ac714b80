package engine

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// API is what the collector needs of an API server. Errors are those of a real
// one (apierrors), and object.UnknownKindError, object.NamespaceRequiredError and
// object.UncoveredError where no request can be made or answered.
type API interface {
	Reader
	Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error
	Patch(ctx context.Context, ref object.Ref, p object.Patch) error
}

// Reader is the part of an API that changes nothing.
type Reader interface {
	// Resource maps an apiVersion and kind to the resource that serves it.
	Resource(apiVersion, kind string) (object.Resource, error)
	// Get reads by coordinates; the UID of ref is not looked at.
	Get(ctx context.Context, ref object.Ref) (*object.Object, error)
}

// Rules say how absence is judged.
type Rules uint8

const (
	// Upstream does what the collector of Kubernetes does: for prediction.
	Upstream Rules = iota
	// Strict keeps an object wherever upstream is known to be able to delete
	// something it should not: for our own writes. See strict.go.
	Strict
)

// String is the word used in plans.
func (r Rules) String() string {
	if r == Strict {
		return "strict"
	}
	return "upstream"
}
