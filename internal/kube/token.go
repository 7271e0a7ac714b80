package kube

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// secretKind is the kind of which a list of metadata leaves open whether the tokens
// controller deletes some: the type is not in the metadata, and nobody wants to read
// what is secret in order to learn it.
const secretKind = "Secret"

// settleTokens asks for the Secrets of the type of tokens, if there are any that may be
// tokens, and notes which of them are. Where the answer fails, that stays open.
//
// The type of a Secret never changes, so that what a later list says of a uid holds. One
// that the later list lacks is of another type, or has gone since: then nobody deletes it
// any more. What else is in that list has come since, and is left out.
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
