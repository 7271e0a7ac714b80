package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
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
	highest     revision
	// seen has the revisions of the lists of the last snapshot: see Printed.
	seen  atomic.Pointer[seen]
	wait  waiter
	now   func() time.Time
	pause pause
	// idle is how long a list may receive nothing before it is cancelled, and how long a watch may
	// take to begin.
	idle time.Duration
	// brief is how long a single request may take, including its response. A server gives up after
	// 60 s itself.
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
	client.CheckRedirect = stay
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

// stay follows no redirect. An API server sends none, and the transport would forward the
// credentials to any target.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Config returns the client's configuration for requests of other code. These have no rate limit
// and are cancelled with the context.
func (c *Client) Config(ctx context.Context) *rest.Config {
	config := rest.CopyConfig(c.config)
	config.Wrap(bindTo(ctx))
	return config
}

// Close closes idle connections.
func (c *Client) Close() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }

// waiter waits for a duration, or until done is closed.
type waiter func(done <-chan struct{}, d time.Duration)

// wallClock implements waiter with the system clock.
func wallClock(done <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
