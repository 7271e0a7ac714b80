package kube

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
)

// Bodies passes objects as they were at a revision to take. Forgotten holds for the error if the
// server no longer remembers the revision.
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
