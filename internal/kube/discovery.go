package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/klog/v2"
	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Discovery is the set of resources that a server serves at one moment.
type Discovery struct {
	// Resources are the served resources in the order of the server, with the preferred version of
	// each group first.
	Resources *object.Resources
	// Missing are the group versions that could not be discovered, sorted. They are served, but
	// their resources are unknown.
	Missing []snapshot.Missing
	// At is when the request was sent, by the client's clock.
	At time.Time
	// statuses are the resources with a status subresource.
	statuses map[schema.GroupVersionResource]bool
}

// StatusApart reports whether the status of a resource is written through a subresource instead of
// with the object.
func (d *Discovery) StatusApart(r object.Resource) bool {
	return d.statuses[schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Name}]
}

// MissingGroup reports whether some version of the group could not be discovered, and why.
func (d *Discovery) MissingGroup(group string) (string, bool) {
	for _, m := range d.Missing {
		if object.GroupOf(m.GroupVersion) == group {
			return m.GroupVersion + ": " + m.Why, true
		}
	}
	return "", false
}

// Discover asks the server which resources it serves, in aggregated form if the server supports it.
// A group that fails or has a stale document affects no other group. Resource uses the result from
// then on.
//
// Upstream: client-go/discovery/discovery_client.go ServerGroupsAndResources.
// Upstream: client-go/discovery/aggregated_discovery.go SplitGroupsAndResources, convertAPIGroup: a
// stale document counts as a failure.
// Rule: spec §3.3.
func (c *Client) Discover(ctx context.Context) (*Discovery, error) {
	d := &Discovery{Resources: &object.Resources{}, At: time.Now(), statuses: map[schema.GroupVersionResource]bool{}}
	dc, err := c.discoveryClient(ctx)
	if err != nil {
		return nil, err
	}
	groups, lists, err := groupsAndResources(ctx, dc)
	failed, ok := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err)
	switch {
	case err == nil || ok:
	case isContext(err) && ctx.Err() == nil:
		return nil, c.explainFirstError("discovery", errSilent)
	default:
		if apierrors.IsForbidden(err) { // discovery discards the message of the server
			if said := c.forbidden(ctx); said != nil {
				err = said
			}
		}
		return nil, c.explainFirstError("discovery", err)
	}
	if ok {
		for gv, err := range failed.Groups {
			d.Missing = append(d.Missing, snapshot.Missing{GroupVersion: gv.String(), Why: err.Error()})
		}
	}
	d.addAll(groups, lists)
	if len(d.Resources.All()) == 0 {
		return nil, errors.New("discovery: the server reports no resources")
	}
	slices.SortFunc(d.Missing, func(a, b snapshot.Missing) int { return strings.Compare(a.GroupVersion, b.GroupVersion) })
	c.discovery.Store(d)
	return d, nil
}

// groupsAndResources asks for groups and resources. client-go before v0.37 has no function with a
// context; the transport of dc ends with it, too. The context keeps client-go from logging errors
// that are returned here.
func groupsAndResources(ctx context.Context, dc *discovery.DiscoveryClient) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	type withContext interface {
		ServerGroupsAndResourcesWithContext(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error)
	}
	if dc, ok := any(dc).(withContext); ok {
		return dc.ServerGroupsAndResourcesWithContext(klog.NewContext(ctx, klog.Logger{}))
	}
	return dc.ServerGroupsAndResources()
}

// forbidden returns the server's error to a user without the permission for discovery, which names
// the path.
func (c *Client) forbidden(ctx context.Context) error {
	for _, path := range []string{"api", "apis"} {
		var groups struct{}
		if err := c.exchange(ctx, request{verb: http.MethodGet, path: []string{path}, accept: jsonType}, &groups); err != nil {
			return err
		}
	}
	return nil
}

// explainFirstError explains an error of a request that commands send first, such as discovery. If no
// response came, it names the server and the cause. The URL of the single request adds nothing. If the
// user may not read a path, it names the role that permits it.
func (c *Client) explainFirstError(what string, err error) error {
	failed, ok := errors.AsType[*url.Error](err)
	switch {
	case ok:
		return fmt.Errorf("no answer from the API server %s: %w", c.config.Host, failed.Err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("you must be logged in to the server: %w", err)
	case errors.Is(err, errSilent):
		return fmt.Errorf("the API server %s: %w", c.config.Host, err)
	case isPathForbidden(err):
		return fmt.Errorf("%s: %w\nThe ClusterRole system:discovery permits it", what, err)
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}

// isPathForbidden reports whether the server denied a path that belongs to no resource.
func isPathForbidden(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsForbidden(err) && errors.As(err, &status) && (status.Status().Details == nil || status.Status().Details.Kind == "")
}

// Discovered returns the result of the last Discover; nil before the first.
func (c *Client) Discovered() *Discovery { return c.discovery.Load() }

// addAll adds the resources by group, with the preferred version first. An announced version
// without a list is missing.
func (d *Discovery) addAll(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) {
	byVersion := map[string]*metav1.APIResourceList{}
	for _, l := range lists {
		byVersion[l.GroupVersion] = l
	}
	for _, g := range groups {
		order := []string{g.PreferredVersion.GroupVersion}
		for _, v := range g.Versions {
			order = append(order, v.GroupVersion)
		}
		done := map[string]bool{"": true}
		for _, gv := range order {
			if done[gv] {
				continue
			}
			done[gv] = true
			if l := byVersion[gv]; l != nil {
				d.add(l)
			} else if !slices.ContainsFunc(d.Missing, func(m snapshot.Missing) bool { return m.GroupVersion == gv }) {
				d.Missing = append(d.Missing, snapshot.Missing{GroupVersion: gv, Why: "the server announces it but does not describe it"})
			}
		}
	}
}

// add adds the resources of one group version, without subresources. Discovery does not distinguish
// custom resources from resources of an extension server. Both count as custom, since neither is
// known to support a strategic merge patch. While a CRD is being deleted, its instances are served
// without write verbs.
//
// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_discovery_controller.go DiscoveryController.sync.
func (d *Discovery) add(l *metav1.APIResourceList) {
	gv, err := schema.ParseGroupVersion(l.GroupVersion)
	if err != nil || gv.Version == "" {
		return
	}
	for i := range l.APIResources {
		r := &l.APIResources[i]
		if of, apart := strings.CutSuffix(r.Name, "/status"); apart {
			d.statuses[gv.WithResource(of)] = true
		}
		if r.Name == "" || r.Kind == "" || strings.Contains(r.Name, "/") {
			continue
		}
		verbs := object.VerbsOf(r.Verbs)
		d.Resources.Add(object.Resource{
			Group: gv.Group, Version: gv.Version, Name: r.Name, Kind: r.Kind, Singular: r.SingularName,
			ShortNames: r.ShortNames, Categories: r.Categories, Namespaced: r.Namespaced,
			Verbs: verbs, Custom: !object.BuiltIn(gv.Group) && (verbs.Has(object.PatchVerb) || verbs.Has(object.DeleteCollection)),
		})
	}
}

// discoveryClient returns a client of client-go whose requests end with the context.
func (c *Client) discoveryClient(ctx context.Context) (*discovery.DiscoveryClient, error) {
	return discovery.NewDiscoveryClientForConfigAndClient(c.config, &http.Client{
		Transport: contextTransport{ctx, c.http.Transport}, Timeout: cmp.Or(c.http.Timeout, c.brief), CheckRedirect: refuseRedirect,
	})
}

// contextTransport binds requests to a context, because some methods of client-go take none.
type contextTransport struct {
	ctx  context.Context
	next http.RoundTripper
}

func (w contextTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.next == nil {
		return http.DefaultTransport.RoundTrip(r.WithContext(w.ctx))
	}
	return w.next.RoundTrip(r.WithContext(w.ctx))
}

// isContext reports whether an error comes from the end of a context and not from the server.
func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// rediscover runs discovery, unless another call has done so since this one began. Concurrent calls
// share one discovery.
func (c *Client) rediscover(ctx context.Context) (*Discovery, error) {
	came := time.Now()
	select {
	case c.discovering <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.discovering }()
	if d := c.discovery.Load(); d != nil && d.At.After(came) {
		return d, nil
	}
	return c.Discover(ctx)
}

// DryRuns reports whether the server is known to support dry run for writes of the resource. All
// built-in resources do. For custom resources and extension servers their OpenAPI document says it,
// as for kubectl --dry-run=server. An old server would ignore the parameter and carry out the
// write, so without a document the result is false. It is safe for concurrent use.
//
// Upstream: cli-runtime/pkg/resource/query_param_verifier_v3.go queryParamVerifierV3.HasSupport.
func (c *Client) DryRuns(ctx context.Context, r object.Resource) bool {
	if object.BuiltIn(r.Group) {
		return true
	}
	kind := schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
	if known, ok := c.dryRuns.Load(kind); ok {
		return known.(bool)
	}
	documents, err := c.discoveryClient(ctx)
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
	return err == nil && patchHasParameter(document, kind, "dryRun")
}

// patchHasParameter reports whether PATCH of the kind has a query parameter.
func patchHasParameter(document *spec3.OpenAPI, kind schema.GroupVersionKind, parameter string) bool {
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
