package kube

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// gatherInstead lists each kind whose list of all namespaces was forbidden in the namespaces of
// Scope.Instead, and records in the coverage why the other namespaces are missing. If namespaces
// may not be listed, it reads those that the scope names with a GET. It returns the places of all
// results.
func (c *Client) gatherInstead(ctx context.Context, places []Place, g *gathering, coverage *snapshot.Coverage) ([]Place, error) {
	namespaces := g.scope.Instead
	var again []Place
	var refused []int // the results that the new ones replace
	for i, p := range places {
		switch {
		case p.Namespace != "" || !apierrors.IsForbidden(g.results[i].err):
		case p.Resource.Namespaced && len(namespaces) > 0:
			g.results[i].replaced = true
			coverage.FailOthers(p.Resource.GroupResource(), reason.Forbidden, g.results[i].err.Error())
			for _, ns := range namespaces {
				again, refused = append(again, Place{p.Resource, ns}), append(refused, i)
			}
		case p.Resource.Is(object.Namespace):
			c.nameNamespaces(ctx, slices.Concat(g.scope.Namespaces, namespaces), g)
		}
	}
	if len(again) == 0 {
		return places, nil
	}
	second := &gathering{scope: g.scope, progress: g.progress, results: make([]gathered, len(again)), state: g.state}
	second.state.Kinds += len(again)
	if err := c.gather(ctx, again, second); err != nil {
		return nil, err
	}
	for i := range again {
		if err := second.results[i].err; err != nil && len(namespaces) == 1 {
			// Nothing of the resource was listed. The error in the namespace is more specific.
			g.results[refused[i]].replaced, g.results[refused[i]].err = false, err
		}
	}
	g.results = append(g.results, second.results...)
	g.state = second.state
	return append(places, again...), nil
}

// nameNamespaces reads the namespaces by name. One that cannot be read stays a gap.
func (c *Client) nameNamespaces(ctx context.Context, names []string, g *gathering) {
	for _, name := range names {
		if _, o, err := c.Raw(ctx, object.Namespace.Ref("", name)); err == nil {
			g.named = append(g.named, o)
		}
	}
}
