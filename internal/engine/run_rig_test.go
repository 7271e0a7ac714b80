package engine_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// cluster is a simulated server with watches and latency, in a bubble of testing/synctest. Its
// events have no Old, as in a process without a cache.
type cluster struct {
	server    *apisim.Server
	resources *object.Resources
	collector *engine.Collector
	events    chan object.Event
	// latency is the duration of a request, lag that of an event.
	latency time.Duration
	lag     func(object.Event) time.Duration
	// answer may answer a request instead of the server.
	answer func(verb object.Verbs, ref object.Ref) error
	// judge returns what is wrong with deleting an object in the state in which the server executes
	// the delete. wrong is the first verdict.
	judge func(o *object.Object) string
	wrong string
	// proofs: an absence is valid for a while, as in the live API.
	proofs bool

	mu       sync.Mutex
	absent   map[object.Ref]time.Time
	pinless  int
	requests map[object.Verbs]int
	total    int
	watches  map[string]chan shown
	pumps    sync.WaitGroup
}

func newCluster(objects []*object.Object, options ...engine.Option) *cluster {
	server := apisim.New(objects, scenario.Resources(), apisim.WithClock(scenario.Start))
	c := around(server, engine.New(options...))
	for o := range c.server.List {
		if c.watched(o) {
			c.collector.Observe(object.Event{Type: object.Added, Object: o})
		}
	}
	return c
}

// around returns a cluster and a collector that has observed its objects.
func around(server *apisim.Server, collector *engine.Collector) *cluster {
	return &cluster{
		server: server, collector: collector,
		resources: scenario.Resources(),
		latency:   time.Millisecond, lag: func(object.Event) time.Duration { return 3 * time.Millisecond },
		absent: map[object.Ref]time.Time{}, requests: map[object.Verbs]int{}, watches: map[string]chan shown{},
	}
}

func (c *cluster) watched(o *object.Object) bool {
	r, err := c.resources.For(o.APIVersion, o.Kind)
	return err == nil && c.resources.Monitored(r)
}

// run collects until rest, or until the context ends, and closes the watches.
func (c *cluster) run(ctx context.Context, o engine.RunOptions) error {
	err := engine.Run(ctx, c.collector, c, c.events, o)
	c.mu.Lock()
	for _, w := range c.watches {
		close(w)
	}
	c.watches = map[string]chan shown{}
	c.mu.Unlock()
	c.pumps.Wait()
	return err
}

// untilRest runs to rest, in a bubble.
func (c *cluster) untilRest(t *testing.T, o engine.RunOptions) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.UntilRest = true
		c.begin()
		if err := c.run(t.Context(), o); err != nil {
			t.Error(err)
		}
		if err := c.collector.Graph().Check(); err != nil {
			t.Error(err)
		}
	})
}

// begin makes the channels, which must belong to the bubble, and sends the earlier events.
func (c *cluster) begin() {
	c.events = make(chan object.Event, 64)
	c.publish()
}

// publish sends the events to the watches, each kind in order.
func (c *cluster) publish() {
	for _, e := range c.server.Events() {
		if !c.watched(e.Object) {
			continue
		}
		e.Old = nil
		kind := e.Object.APIVersion + e.Object.Kind
		w := c.watches[kind]
		if w == nil {
			w = make(chan shown, 1<<14)
			c.watches[kind] = w
			c.pumps.Go(func() { c.pump(w) })
		}
		w <- shown{e, time.Now().Add(c.lag(e))}
	}
}

// shown is an event and the time at which the collector may see it.
type shown struct {
	object.Event
	at time.Time
}

func (c *cluster) pump(w chan shown) {
	for e := range w {
		wait(time.Until(e.at))
		select {
		case c.events <- e.Event:
		case <-time.After(time.Hour): // the collector has stopped
		}
	}
}

func wait(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

// user changes the world without the collector.
func (c *cluster) user(act func(context.Context, *apisim.Server) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.publish()
	return act(context.Background(), c.server)
}

// request does what all requests of the collector share.
func (c *cluster) request(ctx context.Context, verb object.Verbs, ref object.Ref, send func() error) error {
	wait(c.latency)
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests[verb]++
	c.total++
	if c.answer != nil {
		if err := c.answer(verb, ref); err != nil {
			return err
		}
	}
	verdict := ""
	if c.judge != nil && verb == object.Delete {
		if o, err := c.server.Get(ctx, ref); err == nil {
			verdict = c.judge(o)
		}
	}
	defer c.publish()
	err := send()
	if err == nil && verdict != "" && c.wrong == "" {
		c.wrong = ref.String() + " is deleted: " + verdict
	}
	return err
}

func (c *cluster) Resource(apiVersion, kind string) (object.Resource, error) {
	return c.server.Resource(apiVersion, kind)
}

func (c *cluster) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	if c.proven(ref) {
		return nil, apierrors.NewNotFound(object.Resource{}.GroupResource(), ref.Name)
	}
	var o *object.Object
	err := c.request(ctx, object.Get, ref, func() (err error) {
		o, err = c.server.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			c.absent[ref] = time.Now()
		}
		return err
	})
	return o, err
}

func (c *cluster) proven(ref object.Ref) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.absent[ref]
	return c.proofs && ok && time.Since(at) < 5*time.Second
}

func (c *cluster) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	if o.Preconditions == nil || o.Preconditions.UID == nil || o.Preconditions.ResourceVersion == nil {
		c.mu.Lock()
		c.pinless++
		c.mu.Unlock()
	}
	return c.request(ctx, object.Delete, ref, func() error { return c.server.Delete(ctx, ref, o) })
}

func (c *cluster) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	return c.request(ctx, object.PatchVerb, ref, func() error { return c.server.Patch(ctx, ref, p) })
}
