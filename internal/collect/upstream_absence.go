package collect

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// upstreamAbsence treats the 404 of an unserved path as the absence of an object, as the collector
// of Kubernetes does: the owner in a reference to a kind such as PodList is absent. It must be used
// with engine.Upstream only.
//
// Upstream: apimachinery/pkg/api/errors/errors.go NewGenericServerResponse: turns any 404 into the
// reason NotFound.
// Upstream: pkg/controller/garbagecollector/garbagecollector.go isDangling: looks no further.
// Rule: spec Q7, §17.
type upstreamAbsence struct{ *kube.Client }

// Get reads the object, or reports it as absent.
func (c upstreamAbsence) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := c.Client.Get(ctx, ref)
	if unserved, ok := errors.AsType[*kube.UnservedPathError](err); ok {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, http.MethodGet,
			schema.GroupResource{Group: object.GroupOf(ref.APIVersion), Resource: ref.Kind}, ref.Name, unserved.Answer, 0, true)
	}
	return o, err
}

// nowhere reports an object as absent if its name is impossible and a server would answer 404.
// Under Strict rules such owners are never looked up.
//
// Rule: spec Q31.
type nowhere struct{ engine.API }

// Get reads the object, or reports it as absent.
func (n nowhere) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := n.API.Get(ctx, ref)
	if impossible, ok := errors.AsType[*object.ImpossibleNameError](err); ok && impossible.Absent {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: object.GroupOf(ref.APIVersion), Resource: ref.Kind}, ref.Name)
	}
	return o, err
}
