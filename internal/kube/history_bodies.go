package kube

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
)

// Bodies hands over objects as they were at a revision. Of one that the server has forgotten
// the error is one for which Forgotten holds.
func (c *Client) Bodies(ctx context.Context, of history.Collection, take func(raw []byte) error) error {
	r, err := c.Resource(of.APIVersion, of.Kind)
	if err != nil {
		return err
	}
	by := Selection{Revision: of.Revision}
	if of.Name != "" {
		by.Fields = "metadata.name=" + of.Name
	}
	return c.bodies(ctx, Place{r, of.Namespace}, by, take)
}
