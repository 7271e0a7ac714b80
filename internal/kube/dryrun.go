package kube

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// builtinGroups are the API groups of Kubernetes itself. A definition cannot be in one
// of them, for the API server serves it.
var builtinGroups = sync.OnceValue(func() map[string]bool {
	groups := map[string]bool{}
	for _, r := range snapshot.BuiltinResources().All() {
		groups[r.Group] = true
	}
	return groups
})

// builtin reports whether a group is served by Kubernetes itself. The name of one that
// is not has a dot: it is a domain.
func builtin(group string) bool {
	return !strings.Contains(group, ".") || builtinGroups()[group]
}

// DryRuns reports whether the server is known to carry out a write to the resource
// without storing it. Of Kubernetes' own resources that is known; of custom resources
// and extension servers their OpenAPI document says it, as it does for kubectl
// --dry-run=server. A server that is old enough knows no dry run and would do it, so
// that without such a document the answer is no. It is safe for concurrent use.
//
// Upstream: cli-runtime/pkg/resource/query_param_verifier_v3.go queryParamVerifierV3.HasSupport.
func (c *Client) DryRuns(ctx context.Context, r object.Resource) bool {
	if builtin(r.Group) {
		return true
	}
	kind := schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
	if known, ok := c.dryRuns.Load(kind); ok {
		return known.(bool)
	}
	bound := &http.Client{Transport: within{ctx, c.http.Transport}, Timeout: cmp.Or(c.http.Timeout, c.brief), CheckRedirect: stay}
	documents, err := discovery.NewDiscoveryClientForConfigAndClient(c.config, bound)
	if err != nil {
		return false
	}
	objects, err := dynamic.NewForConfigAndClient(c.config, bound)
	if err != nil {
		return false
	}
	err = resource.NewQueryParamVerifierV3(objects, documents.OpenAPIV3(), "dryRun").HasSupport(kind)
	if ctx.Err() == nil {
		c.dryRuns.Store(kind, err == nil)
	}
	return err == nil
}
