package kube

import (
	"context"
	"net/http"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Finalize replaces a namespace through its subresource finalize, the only way on
// which spec.finalizers changes. The body is the whole namespace; the uid and the
// resourceVersion in it are preconditions: 409 when they are not the stored ones.
//
// Upstream: pkg/registry/core/namespace/strategy.go namespaceFinalizeStrategy.PrepareForUpdate.
// Rule: spec §5.1, S205.
func (c *Client) Finalize(ctx context.Context, ref object.Ref, body []byte) error {
	return c.writeTo(ctx, http.MethodPut, ref, "finalize", jsonType, body, false)
}
