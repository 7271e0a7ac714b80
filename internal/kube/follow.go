package kube

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
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
		o.Listener = ignoringListener{}
	}
	f := &feedWriter{
		Feed: &Feed{
			client: c, events: make(chan object.Event, o.Buffer), onState: o.State,
			synced: make(chan struct{}), done: make(chan struct{}), kinds: map[schema.GroupResource]KindState{},
			retries: map[*follower]context.CancelFunc{},
		},
		options: o, running: map[schema.GroupResource]*runningKind{}, droppedObjects: map[schema.GroupResource]map[types.UID]sentObject{},
		lists: make(chan struct{}, inFlight),
	}
	go f.run(ctx)
	return f.Feed
}

// feedWriter is one call of Follow.
type feedWriter struct {
	*Feed
	options    FollowOptions
	goroutines sync.WaitGroup
	running    map[schema.GroupResource]*runningKind
	// droppedObjects has the objects of kinds that are no longer followed. Those that have vanished
	// are reported when the kind is served again, in any version.
	droppedObjects map[schema.GroupResource]map[types.UID]sentObject
	// lists holds a token for each list in progress.
	lists chan struct{}
}

// runningKind is a followed kind with its goroutine.
type runningKind struct {
	resource object.Resource
	follower *follower // owned by its goroutine until done is closed
	stop     context.CancelFunc
	done     chan struct{}
}

func (f *feedWriter) run(ctx context.Context) {
	var pause backoff
	for ctx.Err() == nil {
		// A Rediscover during discovery causes another one.
		round, end := context.WithCancel(ctx)
		f.mu.Lock()
		f.rediscover = end
		f.mu.Unlock()
		wait := f.options.SyncPeriod
		if d, err := f.client.rediscover(ctx); err == nil {
			f.options.Listener.Served(d.Resources)
			f.updateKinds(ctx, d)
			f.markDiscovered(d)
			pause = backoff{}
		} else if ctx.Err() == nil {
			f.setState(KindState{State: Undiscovered, Why: err.Error(), Refused: isDenied(err)})
			wait = min(wait, pause.next())
		}
		f.client.wait(round.Done(), wait)
		end()
	}
	f.goroutines.Wait()
	close(f.events)
	close(f.done)
}

// updateKinds follows new kinds of a discovery and drops those that are gone.
func (f *feedWriter) updateKinds(ctx context.Context, d *Discovery) {
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
		f.droppedObjects[gr] = k.follower.known
		f.options.Listener.Broken(k.resource)
		f.setState(KindState{Resource: k.resource, State: Dropped, Why: "the server does not serve it any more"})
	}
	for _, r := range order {
		if f.running[r.GroupResource()] == nil {
			f.start(ctx, r)
		}
	}
}

func (f *feedWriter) start(ctx context.Context, r object.Resource) {
	ctx, stop := context.WithCancel(ctx)
	gr := r.GroupResource()
	k := &runningKind{resource: r, follower: newFollower(f, r, f.droppedObjects[gr]), stop: stop, done: make(chan struct{})}
	f.running[gr] = k
	delete(f.droppedObjects, gr)
	f.setState(KindState{Resource: r, State: Syncing})
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

// State is the state of a followed kind.
type State uint8

// The states of a kind.
const (
	// Syncing: the kind is being listed, for the first time or after its watch broke off. Its
	// objects are unknown at present.
	Syncing State = iota
	// Synced: all objects were sent, and changes follow.
	Synced
	// Broken: it cannot be listed or watched at present. What was sent before may be out of date.
	// It is retried.
	Broken
	// Dropped: the server no longer serves it. It is not followed.
	Dropped
	// Undiscovered has no resource: discovery failed. Nothing is dropped because of that.
	Undiscovered
)

// String returns the state in one word.
func (s State) String() string {
	return [...]string{"syncing", "synced", "broken", "dropped", "undiscovered"}[s]
}

// KindState is the state of a kind with its reason.
type KindState struct {
	Resource object.Resource
	State    State
	// Why is the error. It is empty for Synced and during the first list.
	Why string
	// Refused is true if the kind is Broken because this client may not list or watch it, or
	// Undiscovered because it may not discover.
	Refused bool
}

// Feed is a cluster that is being followed. Its events and methods fit engine.Run.
type Feed struct {
	client  *Client
	events  chan object.Event
	synced  chan struct{}
	done    chan struct{}
	onState func(KindState)

	mu     sync.Mutex
	kinds  map[schema.GroupResource]KindState
	listed bool // discovery has succeeded once
	// missing is what the last discovery could not read. complete is true if every kind is Synced.
	// epoch counts how often complete has become true. It starts at 1 if synced is closed earlier.
	missing  string
	complete bool
	epoch    uint64
	// rediscover ends the wait for the next discovery. retries end the waits for the next tries of
	// broken kinds.
	rediscover context.CancelFunc
	retries    map[*follower]context.CancelFunc
}

// Events returns the changes of all kinds, ordered within each kind. The events of a list are
// Added, or Modified for objects that were sent before. A missed Deleted event that a list reveals
// has only the identity of the object. None has Old. The channel is closed after the context has
// ended and all events are sent. It must be received from: nothing is dropped, and a slow receiver
// slows the server down.
func (f *Feed) Events() <-chan object.Event { return f.events }

// Synced is closed when every kind that existed at the start has sent all of its objects, or is
// known to be broken.
func (f *Feed) Synced() <-chan struct{} { return f.synced }

// Done is closed when the context has ended and no goroutine is left.
func (f *Feed) Done() <-chan struct{} { return f.done }

// Uncovered reports whether nothing may be concluded about an object at present, because its kind
// is followed and not synced, and why.
func (f *Feed) Uncovered(ref object.Ref) (why string, uncovered bool) {
	r, err := f.client.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return "", false // the kind is not served; the collector finds out itself
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.kinds[object.Storage(r.GroupResource())]
	if !ok || k.State == Synced {
		return "", false
	}
	return strings.TrimSuffix(r.GroupResource().String()+" is "+k.State.String()+": "+k.Why, ": "), true
}

// Complete reports whether every kind is fully known at present. epoch changes after every
// interruption, and stays 1 if there was none since Synced was closed. why names a kind that is not
// complete. Code that acts on the absence of references needs a complete feed.
func (f *Feed) Complete() (epoch uint64, why string, complete bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.complete {
		return f.epoch, "", true
	}
	why = "the served kinds are not known yet"
	first := ""
	for gr, k := range f.kinds {
		if name := gr.String(); k.State != Synced && (first == "" || name < first) {
			first, why = name, strings.TrimSuffix(name+" is "+k.State.String()+": "+k.Why, ": ")
		}
	}
	return f.epoch, why, false
}

// Missing returns a group version that the last discovery could not read, with the reason. It is
// empty if there was none.
func (f *Feed) Missing() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.missing
}

// Rediscover makes the feed run discovery soon, because the served kinds may have changed. New
// kinds are followed, kinds that are gone are dropped, and broken ones are retried.
func (f *Feed) Rediscover() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rediscover != nil {
		f.rediscover()
	}
	for _, retry := range f.retries {
		retry()
	}
}

// wait waits for d, or until Rediscover retries broken kinds.
func (f *Feed) wait(ctx context.Context, w *follower, d time.Duration) {
	bound, retry := context.WithCancel(ctx)
	defer retry()
	f.mu.Lock()
	f.retries[w] = retry
	f.mu.Unlock()
	f.client.wait(bound.Done(), d)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.retries, w)
}

// Kinds returns the states of all followed kinds, sorted by group and resource.
func (f *Feed) Kinds() []KindState {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]KindState, 0, len(f.kinds))
	for _, k := range f.kinds {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b KindState) int {
		return cmp.Or(strings.Compare(a.Resource.Group, b.Resource.Group), strings.Compare(a.Resource.Name, b.Resource.Name))
	})
	return all
}

// setState stores a state and passes it to tell. All earlier events must have been sent.
func (f *Feed) setState(k KindState) {
	f.mu.Lock()
	switch gr := k.Resource.GroupResource(); k.State {
	case Undiscovered:
	case Dropped:
		delete(f.kinds, gr)
	default:
		f.kinds[gr] = k
	}
	f.updateComplete()
	f.mu.Unlock()
	if f.onState != nil {
		f.onState(k)
	}
}

// updateComplete updates complete and epoch. It closes synced once discovery has succeeded and no
// kind is in its first list. The lock must be held.
func (f *Feed) updateComplete() {
	was := f.complete
	f.complete = f.listed
	for _, k := range f.kinds {
		f.complete = f.complete && k.State == Synced
	}
	if f.complete && !was {
		f.epoch++
	}
	for _, k := range f.kinds {
		if k.State == Syncing {
			return
		}
	}
	select {
	case <-f.synced:
	default:
		if f.listed {
			if !f.complete {
				f.epoch++ // epoch 1 is reserved for feeds that are complete when synced is closed
			}
			close(f.synced)
		}
	}
}

// markDiscovered records that all kinds of a discovery are followed.
func (f *Feed) markDiscovered(d *Discovery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed, f.missing = true, ""
	if len(d.Missing) > 0 {
		f.missing = d.Missing[0].GroupVersion + ": " + d.Missing[0].Why
	}
	f.updateComplete()
}

// send sends an event, or fails when the context ends.
func (f *Feed) send(ctx context.Context, e object.Event) error {
	select {
	case f.events <- e:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Listener is notified about the watches of a feed. Its methods are called concurrently, but for
// each kind in order. They must not block.
type Listener interface {
	// Served is called after each successful discovery.
	Served(rs *object.Resources)
	// Watching is called when a watch of a kind has begun.
	Watching(r object.Resource)
	// Broken is called when a kind cannot be listed or watched. No change arrives until it is
	// listed again.
	Broken(r object.Resource)
}

// ignoringListener is the Listener that ignores everything.
type ignoringListener struct{}

func (ignoringListener) Served(*object.Resources) {}
func (ignoringListener) Watching(object.Resource) {}
func (ignoringListener) Broken(object.Resource)   {}
