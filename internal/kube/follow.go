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

// FollowOptions say what to follow.
type FollowOptions struct {
	// Wants chooses among what a collector watches; nil takes everything.
	Wants func(object.Resource) bool
	// Namespace is the only one whose content is followed; empty for all. Kinds without a
	// namespace are followed always.
	Namespace string
	// SyncPeriod is how often discovery is repeated; 0 for 30 seconds, as
	// upstream.
	SyncPeriod time.Duration
	// State is told of every change of a kind's state, from many goroutines and
	// after the events that led to it; nil for nobody.
	State func(KindState)
	// Listener is told how the watches go. It may be nil.
	Listener Listener
	// Buffer is how many events may wait; 0 for 1,024.
	Buffer int
}

// Follow tells of every object that a collector watches, and of every change, until
// the context ends.
//
// A kind that cannot be listed or watched is Broken and costs nobody else anything.
// It is listed again after an expired watch, and what has vanished meanwhile is
// reported as Deleted. Discovery is repeated: new kinds are followed, and a kind
// that is gone is dropped, but never because its group could not be discovered. What has
// vanished before a kind is followed again is reported then.
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

// following is one Follow.
type following struct {
	*Feed
	options    FollowOptions
	goroutines sync.WaitGroup
	running    map[schema.GroupResource]*followed
	// handed is what was handed over of kinds that are not followed at present. What of it has
	// gone is told when the kind is served again, in whatever version.
	handed map[schema.GroupResource]map[types.UID]known
	// lists holds a token for each list under way.
	lists chan struct{}
}

// followed is a kind that is followed, as Follow knows it.
type followed struct {
	resource object.Resource
	follower *follower // somebody else's until done is closed
	stop     context.CancelFunc
	done     chan struct{}
}

func (f *following) run(ctx context.Context) {
	var pause backoff
	for ctx.Err() == nil {
		// Who asks for another discovery while there is one under way gets it, too.
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

// adjust follows what is new in discovery and drops what is gone.
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

// backoff is how long to wait after failures in a row: twice as long each time, up
// to half a minute, and never the same for two kinds.
type backoff struct{ failures int }

func (b *backoff) next() time.Duration {
	d := min(500*time.Millisecond<<min(b.failures, 10), 30*time.Second)
	b.failures++
	return d/2 + rand.N(d/2+1)
}
