// Package kube is the client of a live API server: it connects, discovers, lists, reads, writes,
// watches and resolves. Client has the methods of engine.API, and Collect runs the engine on it.
//
// Unknown is never absent, as in a snapshot. A kind that could not be listed is a gap with a
// reason. An unexpected response is an error, and never an empty list or a missing object. A 404
// for a path that is not served is not the 404 of an object (UnservedPathError).
//
// Requests use the transport of client-go, so that all of its flags and authentication plugins
// work, but they are sent and read here: metadata is decoded while it arrives, and no body is held
// in memory as a whole.
package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Options configure a Client.
type Options struct {
	// Version and Command form the User-Agent: `kubectl-gc/<version> (<command>)`.
	Version, Command string
	// Context is the name of the cluster in the kubeconfig, for messages. It is empty without one.
	Context string
	// QPS and Burst limit the requests. QPS 0 or less means no limit of the client: the server has
	// a fairer one (API Priority and Fairness).
	QPS   float32
	Burst int
	// ChunkSize is the number of objects on a page of a list. 0 requests each kind in one piece,
	// which a server of 1.31 or newer serves from memory and at one resourceVersion.
	ChunkSize int64
	// Unready is the longest wait before a read is repeated for a resource that the server does not
	// have in memory yet. It also makes the read give up sooner. 0 waits for as long as the server
	// says, which is a second or more.
	Unready time.Duration
	// Warn is called with warnings in responses to writes, once for each text; nil drops them.
	// Warnings in responses to reads are always dropped, because all kinds are read, deprecated
	// ones too. It must be safe for concurrent use.
	Warn func(text string)
}

// Client is a connection to one cluster. It is safe for concurrent use.
type Client struct {
	config    *rest.Config
	http      *http.Client
	base      *url.URL
	chunk     int64
	unready   time.Duration
	limiter   flowcontrol.RateLimiter // nil: no limit
	warnings  warnings
	context   string
	discovery atomic.Pointer[Discovery]
	// dryRuns caches DryRuns by kind.
	dryRuns sync.Map
	// discovering holds a token while rediscover runs.
	discovering chan struct{}
	highest     highestRevisions
	// seen has the revisions of the lists of the last snapshot: see Printed.
	seen  atomic.Pointer[snapshotLists]
	wait  waiter
	now   func() time.Time
	pause pause
	// idle is the time after which a list is cancelled if nothing arrives, and within which a watch
	// must begin.
	idle time.Duration
	// brief is the time limit for a single request with its response. A server itself gives up
	// after 60 s.
	brief time.Duration
}

// Connect returns a client. It sends no request, so an unreachable server is reported by the first
// one.
func Connect(config *rest.Config, o Options) (*Client, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = fmt.Sprintf("kubectl-gc/%s (%s)", cmp.Or(o.Version, "unknown"), cmp.Or(o.Command, "unknown"))
	config.GroupVersion, config.APIPath = nil, ""
	config.QPS, config.Burst, config.RateLimiter = -1, 0, nil
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	client.CheckRedirect = refuseRedirect
	if o.ChunkSize < 0 {
		return nil, errors.New("the size of a page of a list cannot be negative")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	c := &Client{config: config, context: o.Context, unready: o.Unready, http: client, base: base, chunk: o.ChunkSize, wait: wallClock, now: time.Now, idle: time.Minute, brief: 90 * time.Second, discovering: make(chan struct{}, 1)}
	c.warnings.tell = o.Warn
	config.WarningHandler, config.WarningHandlerWithContext = rest.NoWarnings{}, nil
	if o.QPS > 0 {
		c.limiter = flowcontrol.NewTokenBucketRateLimiter(o.QPS, max(o.Burst, 1))
	}
	return c, nil
}

// refuseRedirect follows no redirect. An API server sends none, and the transport would forward the
// credentials to any target.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Config returns the client's configuration for requests of other code. These have no rate limit
// and are cancelled with the context.
func (c *Client) Config(ctx context.Context) *rest.Config {
	config := rest.CopyConfig(c.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return contextTransport{ctx, next} })
	return config
}

// Close closes idle connections.
func (c *Client) Close() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }

// waiter waits for a duration, or until done is closed.
type waiter func(done <-chan struct{}, d time.Duration)

// wallClock implements waiter with the system clock.
func wallClock(done <-chan struct{}, d time.Duration) {
	select {
	case <-done:
	case <-time.After(d):
	}
}

// Identity says which cluster and user a command acts on and as. A person must see it before
// confirming. (spec W21)
type Identity struct {
	// ClusterUID is the uid of namespace kube-system. It is empty without permission to read it.
	ClusterUID types.UID
	// Server is the URL of the API server, Context its name in the kubeconfig.
	Server, Context string
	// User is the name of the user according to the server. It is empty if unknown.
	User string
	// Version is the gitVersion of the server. It is empty without permission to read it.
	Version string
	// Emulated is the release that the server emulates, as 1.N. It is empty if unknown, as before
	// v1.33.
	Emulated string
}

// Identity reads the identity from the server. An unknown user, version or uid of kube-system is not
// an error: servers older than 1.26 and users without these permissions exist.
func (c *Client) Identity(ctx context.Context) (Identity, error) {
	id, err := c.Cluster(ctx)
	if err != nil {
		return id, err
	}
	user, err := c.whoAmI(ctx)
	if err != nil && !isRefused(err) {
		return id, fmt.Errorf("the name of the user: %w", err)
	}
	id.User = user.Username
	return id, nil
}

// Cluster is like Identity, without the user. It sends no POST, which reading the user needs.
func (c *Client) Cluster(ctx context.Context) (Identity, error) {
	id := Identity{Server: c.base.String(), Context: c.context}
	info, err := c.serverInfo(ctx)
	if err != nil {
		return id, err
	}
	id.Version = info.GitVersion
	if info.EmulationMajor != "" && info.EmulationMinor != "" {
		id.Emulated = info.EmulationMajor + "." + info.EmulationMinor
	}
	id.ClusterUID, err = c.clusterUID(ctx)
	return id, err
}

// clusterUID returns the uid of the namespace kube-system; empty if it may not be read.
func (c *Client) clusterUID(ctx context.Context) (types.UID, error) {
	ns, err := c.read(ctx, namespaces, object.Namespace.Ref("", "kube-system"))
	switch {
	case err == nil:
		return ns.UID, nil
	case !isRefused(err):
		return "", fmt.Errorf("namespace kube-system: %w", err)
	}
	return "", nil
}

// namespaces is the resource that is needed before discovery.
var namespaces = object.Resource{Version: "v1", Name: "namespaces", Kind: "Namespace", Verbs: object.AllVerbs}

// isRefused reports whether the server denied the request or does not have the resource.
func isRefused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || isUnserved(err) ||
		apierrors.IsMethodNotSupported(err)
}

// serverInfo returns the version of the server; the zero value if it may not be read.
func (c *Client) serverInfo(ctx context.Context) (info version.Info, err error) {
	err = c.exchange(ctx, request{verb: http.MethodGet, path: []string{"version"}, accept: jsonType}, &info)
	switch {
	case isRefused(err):
		return version.Info{}, nil
	case err != nil:
		return version.Info{}, c.explainFirstError("the server's version", err)
	}
	return info, nil
}

// whoAmI returns the user that the server sees, which is the impersonated one with impersonation.
// The review is a POST that stores nothing. Servers before v1.28 have it in older versions.
func (c *Client) whoAmI(ctx context.Context) (authentication.UserInfo, error) {
	var err error
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		var review authentication.SelfSubjectReview
		review.APIVersion, review.Kind = "authentication.k8s.io/"+version, "SelfSubjectReview"
		body, failed := json.Marshal(&review)
		if failed != nil {
			return authentication.UserInfo{}, failed
		}
		err = c.exchange(ctx, request{
			verb: http.MethodPost, path: []string{"apis", "authentication.k8s.io", version, "selfsubjectreviews"},
			accept: jsonType, body: body, content: jsonType,
		}, &review)
		if err == nil || !apierrors.IsNotFound(err) && !isUnserved(err) {
			return review.Status.UserInfo, err
		}
	}
	return authentication.UserInfo{}, err
}

// Access is the answer of an access review.
type Access struct {
	Allowed bool
	// Why is the server's explanation. It may be empty.
	Why string
}

// MayI asks the server whether this client may use a verb of RBAC on a resource in a namespace, or
// in all namespaces if it is empty. A subresource follows the name of the resource after a slash.
// The answer does not cover admission.
func (c *Client) MayI(ctx context.Context, verb string, r object.Resource, namespace string) (Access, error) {
	var review authorization.SelfSubjectAccessReview
	review.APIVersion, review.Kind = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
	resource, subresource, _ := strings.Cut(r.Name, "/")
	review.Spec.ResourceAttributes = &authorization.ResourceAttributes{
		Verb: verb, Group: r.Group, Version: r.Version, Resource: resource, Subresource: subresource, Namespace: namespace,
	}
	body, err := json.Marshal(&review)
	if err != nil {
		return Access{}, err
	}
	err = c.exchange(ctx, request{
		verb: http.MethodPost, path: []string{"apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews"},
		accept: jsonType, body: body, content: jsonType,
	}, &review)
	why := review.Status.Reason
	if review.Status.EvaluationError != "" {
		why += " (" + review.Status.EvaluationError + ")"
	}
	return Access{Allowed: review.Status.Allowed && !review.Status.Denied, Why: why}, err
}
