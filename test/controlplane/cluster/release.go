package cluster

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Release is the version of Kubernetes that the API server says it is, such as v1.31.0.
// It is asked once, at the start.
func (c *Cluster) Release() string { return c.release }

// Minor is the release whose rules the control plane follows; 0 when its version names none.
func (c *Cluster) Minor() release.Minor { return release.MinorOf(c.release) }

func (c *Cluster) askRelease(ctx context.Context) error {
	text, err := c.Do(ctx, http.MethodGet, "/version", "", nil)
	if err != nil {
		return err
	}
	var says struct{ GitVersion string }
	err = json.Unmarshal(text, &says)
	c.release = says.GitVersion
	return err
}
