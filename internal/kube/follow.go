package kube

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// FollowOptions configure Follow.
type FollowOptions struct {
	// Wants selects among the kinds that a collector watches; nil selects all.
	Wants func(object.Resource) bool
	// Namespace limits namespaced kinds to one namespace; empty means all. Cluster-scoped kinds are
	// always followed.
	Namespace string
	// SyncPeriod is the interval of discovery; 0 means 30 seconds, as upstream.
	SyncPeriod time.Duration
	// State is called for every change of a kind's state, concurrently and after the events that
	// led to it. It may be nil.
	State func(KindState)
	// Listener is notified about the watches. It may be nil.
	Listener Listener
	// Buffer is the capacity of the event channel; 0 means 1,024.
	Buffer int
}

// Follow sends every object that a collector watches, and every change, until the context ends.
//
// A kind that cannot be listed or watched is Broken and affects no other kind. It is listed again
// after an expired watch, and objects that have vanished meanwhile are sent as Deleted. Discovery
// is repeated: new kinds are followed, and a kind that is gone is dropped, but never because its
// group could not be discovered. Objects that vanished before a kind is followed
// again are reported then.
// (spec S180–S188)
func (c *Client) Follow(ctx context.Context, o FollowOptions) *Feed {
	if o.SyncPeriod <= 0 {
		o.SyncPeriod = 30 * time.Second
	}
	if o.Buffer <= 0 {
		o.Buffer = 1024
	}
	if o.Listener == nil {
		o.Listener = deaf{}
	}
	f := &following{
		Feed: &Feed{
			client: c, events: make(chan object.Event, o.Buffer), tell: o.State,
			synced: make(chan struct{}), done: make(chan struct{}), kinds: map[schema.GroupResource]KindState{},
			waiting: map[*follower]context.CancelFunc{},
		},
		options: o, running: map[schema.GroupResource]*followed{}, handed: map[schema.GroupResource]map[types.UID]known{},
		lists: make(chan struct{}, inFlight),
	}
	go f.run(ctx)
	return f.Feed
}

// following is one call of Follow.
type following struct {
	*Feed
	options    FollowOptions
	goroutines sync.WaitGroup
	running    map[schema.GroupResource]*followed
	// handed has the objects of kinds that are no longer followed. Those that have vanished are
	// reported when the kind is served again, in any version.
	handed map[schema.GroupResource]map[types.UID]known
	// lists holds a token for each list in progress.
	lists chan struct{}
}

// followed is a followed kind with its goroutine.
type followed struct {
	resource object.Resource
	follower *follower // owned by its goroutine until done is closed
	stop     context.CancelFunc
	done     chan struct{}
}

func (f *following) run(ctx context.Context) {
	var pause backoff
	for ctx.Err() == nil {
		// A Rediscover during discovery causes another one.
		round, end := context.WithCancel(ctx)
		f.mu.Lock()
		f.again = end
		f.mu.Unlock()
		wait := f.options.SyncPeriod
		if d, err := f.client.rediscover(ctx); err == nil {
			f.options.Listener.Served(d.Resources)
			f.adjust(ctx, d)
			f.discovered(d)
			pause = backoff{}
		} else if ctx.Err() == nil {
			f.note(KindState{State: Undiscovered, Why: err.Error(), Refused: denied(err)})
			wait = min(wait, pause.next())
		}
		f.client.wait(round.Done(), wait)
		end()
	}
	f.goroutines.Wait()
	close(f.events)
	close(f.done)
}

// adjust follows new kinds of a discovery and drops those that are gone.
func (f *following) adjust(ctx context.Context, d *Discovery) {
	var order []object.Resource
	served := map[schema.GroupResource]object.Resource{}
	for _, r := range d.Resources.All() {
		if d.Resources.Monitored(r) && listable(d.Resources, r) && (f.options.Wants == nil || f.options.Wants(r)) {
			served[r.GroupResource()] = r
			order = append(order, r)
		}
	}
	for gr, k := range f.running {
		if r, ok := served[gr]; ok && r.Version == k.resource.Version && r.Kind == k.resource.Kind && r.Namespaced == k.resource.Namespaced {
			continue
		}
		if _, missing := d.MissingGroup(gr.Group); missing {
			continue
		}
		k.stop()
		<-k.done
		delete(f.running, gr)
		f.handed[gr] = k.follower.known
		f.options.Listener.Broken(k.resource)
		f.note(KindState{Resource: k.resource, State: Dropped, Why: "the server does not serve it any more"})
	}
	for _, r := range order {
		if f.running[r.GroupResource()] == nil {
			f.start(ctx, r)
		}
	}
}

func (f *following) start(ctx context.Context, r object.Resource) {
	ctx, stop := context.WithCancel(ctx)
	gr := r.GroupResource()
	k := &followed{resource: r, follower: newFollower(f, r, f.handed[gr]), stop: stop, done: make(chan struct{})}
	f.running[gr] = k
	delete(f.handed, gr)
	f.note(KindState{Resource: r, State: Syncing})
	f.goroutines.Go(func() {
		defer close(k.done)
		defer stop()
		k.follower.run(ctx)
	})
}

// backoff is the pause after consecutive failures. It doubles each time, up to half a minute, and
// is randomized.
type backoff struct{ failures int }

func (b *backoff) next() time.Duration {
	d := min(500*time.Millisecond<<min(b.failures, 10), 30*time.Second)
	b.failures++
	return d/2 + rand.N(d/2+1)
}
