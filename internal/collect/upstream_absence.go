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

// upstreamAbsence takes the 404 of a path that nobody serves for the absence of an object,
// as the collector of Kubernetes does: a reference to a kind such as PodList is one
// to an owner that is absent. Only engine.Upstream may be run over it.
//
// Upstream: apimachinery/pkg/api/errors/errors.go NewGenericServerResponse: turns any 404 into the
// reason NotFound.
// Upstream: pkg/controller/garbagecollector/garbagecollector.go isDangling: looks no further.
// Rule: spec Q7, §17.
type upstreamAbsence struct{ *kube.Client }

// Get reads the object, or finds it absent.
func (c upstreamAbsence) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := c.Client.Get(ctx, ref)
	if unserved, ok := errors.AsType[*kube.UnservedPathError](err); ok {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, http.MethodGet,
			schema.GroupResource{Group: object.GroupOf(ref.APIVersion), Resource: ref.Kind}, ref.Name, unserved.Answer, 0, true)
	}
	return o, err
}

// nowhere finds absent what is asked for by a name that no object can have and of which a server
// would say 404. Under Strict rules nobody asks for an owner by such a name.
//
// Rule: spec Q31.
type nowhere struct{ engine.API }

// Get reads the object, or finds it absent.
func (n nowhere) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := n.API.Get(ctx, ref)
	if impossible, ok := errors.AsType[*object.ImpossibleNameError](err); ok && impossible.Absent {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: object.GroupOf(ref.APIVersion), Resource: ref.Kind}, ref.Name)
	}
	return o, err
}
