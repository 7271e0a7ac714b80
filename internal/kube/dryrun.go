package kube

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// builtinGroups returns the API groups of Kubernetes itself. A CRD cannot be in one of them,
// because the API server serves it.
var builtinGroups = sync.OnceValue(func() map[string]bool {
	groups := map[string]bool{}
	for _, r := range snapshot.BuiltinResources().All() {
		groups[r.Group] = true
	}
	return groups
})

// builtin reports whether Kubernetes itself serves a group. All other groups have a dot in their
// name, because they are domains.
func builtin(group string) bool {
	return !strings.Contains(group, ".") || builtinGroups()[group]
}

// DryRuns reports whether the server is known to support dry run for writes of the resource. All
// built-in resources do. For custom resources and extension servers their OpenAPI document says it,
// as for kubectl --dry-run=server. An old server would ignore the parameter and carry out the
// write, so without a document the result is false. It is safe for concurrent use.
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
	said := c.documentsDryRun(ctx, openapi3.NewRoot(documents.OpenAPIV3()), kind, r)
	if ctx.Err() == nil {
		c.dryRuns.Store(kind, said)
	}
	return said
}

// documentsDryRun reports whether the server documents dry run for a kind. If the document of a CRD
// is not published yet, that of namespaces is used, because the same server serves both.
func (c *Client) documentsDryRun(ctx context.Context, root openapi3.Root, kind schema.GroupVersionKind, r object.Resource) bool {
	document, err := root.GVSpec(kind.GroupVersion())
	if _, unknown := errors.AsType[*openapi3.GroupVersionNotFoundError](err); unknown {
		definition := object.CRD.Ref("", r.Name+"."+r.Group)
		if _, err := c.read(ctx, object.CRD.Resource(), definition); err != nil {
			return false
		}
		kind = schema.GroupVersionKind{Version: object.Namespace.Version, Kind: object.Namespace.Kind}
		document, err = root.GVSpec(kind.GroupVersion())
	}
	return err == nil && patchTakes(document, kind, "dryRun")
}

// patchTakes reports whether PATCH of the kind has a query parameter.
func patchTakes(document *spec3.OpenAPI, kind schema.GroupVersionKind, parameter string) bool {
	if document == nil || document.Paths == nil {
		return false
	}
	for _, path := range document.Paths.Paths {
		var of schema.GroupVersionKind
		if path == nil || path.Patch == nil || path.Patch.Extensions.GetObject("x-kubernetes-group-version-kind", &of) != nil || of != kind {
			continue
		}
		for _, p := range path.Patch.Parameters {
			if name, shared := strings.CutPrefix(p.Ref.String(), "#/parameters/"); shared && document.Components != nil && document.Components.Parameters[name] != nil {
				p = document.Components.Parameters[name]
			}
			if p.Name == parameter && p.In == "query" {
				return true
			}
		}
	}
	return false
}
