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

// Options say how to talk to a server.
type Options struct {
	// Version and Command stand in the User-Agent: `kubectl-gc/<version> (<command>)`.
	Version, Command string
	// Context is the name of the cluster in the kubeconfig, for people; empty without one.
	Context string
	// QPS and Burst limit the requests; QPS 0 or less means no limit of our own,
	// for a server has a fairer one (API Priority and Fairness).
	QPS   float32
	Burst int
	// ChunkSize is the number of objects on a page of a list. 0 asks for each kind
	// in one piece, which a server of 1.31 or newer serves from memory and at one
	// resourceVersion.
	ChunkSize int64
	// Unready is how long at most a read waits before it asks again for a resource that the
	// server does not have in memory yet, and it gives up sooner; 0 for as long as the server
	// says, which is a second or more.
	Unready time.Duration
	// Warn is told of warnings that the server sends with its answers to writes, each text
	// once; nil drops them. Those about what is read are dropped, for everything is read,
	// deprecated kinds too. It may be called from many goroutines.
	Warn func(text string)
}

// Client is a connection to one cluster. It may be used from many goroutines.
type Client struct {
	config    *rest.Config
	http      *http.Client
	base      *url.URL
	chunk     int64
	unready   time.Duration
	limiter   flowcontrol.RateLimiter // nil: none
	warnings  warnings
	context   string
	discovery atomic.Pointer[Discovery]
	// dryRuns holds what is known of kinds: see DryRuns.
	dryRuns sync.Map
	// discovering holds a token while rediscover asks.
	discovering chan struct{}
	highest     revision
	// seen is when the lists of the last snapshot were read: see Printed.
	seen  atomic.Pointer[seen]
	wait  waiter
	now   func() time.Time
	pause pause
	// idle is how long a list may show nothing before it is given up, and how long a
	// watch may take to begin.
	idle time.Duration
	// brief is how long a single answer may take, from the request to its end. A server
	// gives up after 60 s itself.
	brief time.Duration
}

// Connect makes a client. It sends no request: what is wrong with the server shows at the
// first one.
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

// stay follows no redirect: an API server sends none, and the transport would send
// our credentials along to wherever one leads.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Config is the configuration of the client, for requests that somebody else makes. They
// have no limit of the client and end with a context.
func (c *Client) Config(ctx context.Context) *rest.Config {
	config := rest.CopyConfig(c.config)
	config.Wrap(bindTo(ctx))
	return config
}

// Close gives back the connections that nothing uses.
func (c *Client) Close() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }

// waiter waits for a time, and returns early with the error of the context.
type waiter func(done <-chan struct{}, d time.Duration)

// wallClock waits on the clock of the machine.
func wallClock(done <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
