package kube

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// secretKind is the kind whose metadata does not show whether the tokens controller deletes an
// object: the type is not in the metadata, and the secret data must not be read for it.
const secretKind = "Secret"

// settleTokens lists the Secrets of the token type, if some objects may be tokens, and records
// which objects are. If the list fails, that stays unknown.
//
// The type of a Secret never changes, so the later list is valid for the same uid. An object that
// it lacks has another type, or is gone and will not be deleted again. Objects that only the later
// list has are newer and left out.
//
// Upstream: pkg/apis/core/validation/validation.go ValidateSecretUpdate.
// Upstream: pkg/registry/core/secret/strategy.go SelectableFields.
func (c *Client) settleTokens(ctx context.Context, at Place, objects []*object.Object) {
	if at.Resource.Kind != secretKind || at.Resource.Group != "" ||
		!slices.ContainsFunc(objects, func(o *object.Object) bool { return o.Token() != nil }) {
		return
	}
	tokens := map[types.UID]bool{}
	by := Selection{Fields: fields.OneTermEqualSelector("type", object.TokenType).String()}
	_, err := c.List(ctx, at, by, Listing{
		Object: func(o *object.Object) error {
			tokens[o.UID] = true
			return nil
		},
		Restart: func() { clear(tokens) },
	})
	if err != nil {
		return
	}
	for i, o := range objects {
		if o.Token() == nil {
			continue
		}
		objects[i] = o.Clone()
		life := objects[i].Edit()
		life.Facts = nil
		if tokens[o.UID] {
			life.Facts = object.TokenBy(o.Token().Account, o.Token().AccountUID, object.TokenType)
		}
	}
}
