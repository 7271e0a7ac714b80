package kube

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Finalize replaces a namespace through its finalize subresource, which is the only way to change
// spec.finalizers. body is the whole namespace. Its uid and resourceVersion are preconditions: the
// server answers 409 if they differ from the stored ones.
//
// Upstream: pkg/registry/core/namespace/strategy.go namespaceFinalizeStrategy.PrepareForUpdate.
// Rule: spec §5.1, S205.
func (c *Client) Finalize(ctx context.Context, ref object.Ref, body []byte) error {
	return c.writeTo(ctx, http.MethodPut, ref, "finalize", jsonType, body, false)
}

// DeleteCollection deletes the objects of a place that match; a nil selector matches all. A nil
// error means that the server has accepted the deletes.
func (c *Client) DeleteCollection(ctx context.Context, at Place, selector labels.Selector, o metav1.DeleteOptions) error {
	o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	body, err := json.Marshal(&o)
	if err != nil {
		return err
	}
	q := url.Values{}
	if selector != nil && !selector.Empty() {
		q.Set("labelSelector", selector.String())
	}
	a, err := c.send(ctx, request{verb: http.MethodDelete, path: at.path(), query: q, accept: acceptList, body: body, content: jsonType, about: at.subject()})
	if err != nil {
		return err
	}
	defer func() { _ = a.body.Close() }()
	_, err = io.Copy(io.Discard, a.body)
	return err
}
