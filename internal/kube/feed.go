package kube

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// State is how well a kind is known while it is followed.
type State uint8

// The states of a kind.
const (
	// Syncing: it is listed, for the first time or because its watch has broken off;
	// nothing says at present what there is.
	Syncing State = iota
	// Synced: everything there is was handed over, and changes follow.
	Synced
	// Broken: it cannot be listed or watched at present. What was handed over
	// before may be out of date; it is tried again.
	Broken
	// Dropped: the server does not serve it any more. It is not followed.
	Dropped
	// Undiscovered stands without a resource: what the server serves could not be
	// asked. Nothing is dropped for that.
	Undiscovered
)

// String is the state in one word.
func (s State) String() string {
	return [...]string{"syncing", "synced", "broken", "dropped", "undiscovered"}[s]
}

// KindState is what is known of a kind.
type KindState struct {
	Resource object.Resource
	State    State
	// Why says what is wrong; empty for Synced and in the first list.
	Why string
	// Refused: it is Broken because we may not list or watch it, or Undiscovered because we may
	// not ask.
	Refused bool
}

// Feed is a cluster that is being followed. Its events and answers fit engine.Run.
type Feed struct {
	client *Client
	events chan object.Event
	synced chan struct{}
	done   chan struct{}
	tell   func(KindState)

	mu     sync.Mutex
	kinds  map[schema.GroupResource]KindState
	listed bool // discovery has said once which kinds there are
	// missing is what the last discovery could not say; complete that every kind is
	// Synced, and epoch how often that has become so.
	missing  string
	complete bool
	epoch    uint64
	// again ends the time until the next discovery, and waiting that until what is broken is
	// tried again.
	again   context.CancelFunc
	waiting map[*follower]context.CancelFunc
}

// Events are the changes of all kinds, each kind's in their order. The events of
// a list are Added, or Modified for what was handed over before; a Deleted event
// that was missed and found by a list carries nothing but the identity; none has
// Old. The channel is closed when the context has ended and nothing is left. It
// has to be received from, for nothing is dropped: a slow receiver slows the
// server down.
func (f *Feed) Events() <-chan object.Event { return f.events }

// Synced is closed when every kind that was there at the start has handed over all
// of its objects, or is known to be broken.
func (f *Feed) Synced() <-chan struct{} { return f.synced }

// Done is closed when the context has ended and no goroutine is left.
func (f *Feed) Done() <-chan struct{} { return f.done }

// Uncovered reports whether nothing may be concluded about the place of an object at
// present, because its kind is followed and not synced, and why.
func (f *Feed) Uncovered(ref object.Ref) (why string, uncovered bool) {
	r, err := f.client.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return "", false // there is no place; the collector finds out itself
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.kinds[object.Storage(r.GroupResource())]
	if !ok || k.State == Synced {
		return "", false
	}
	return strings.TrimSuffix(r.GroupResource().String()+" is "+k.State.String()+": "+k.Why, ": "), true
}

// Complete reports whether every kind is known in full at present, and since when: the
// epoch is another one after every moment in which that was not so, and 1 for as
// long as there was none since Synced was closed. Why names a kind that is not. Whoever acts on what no object refers to has to have seen it.
func (f *Feed) Complete() (epoch uint64, why string, complete bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.complete {
		return f.epoch, "", true
	}
	why = "it is not known yet which kinds there are"
	first := ""
	for gr, k := range f.kinds {
		if name := gr.String(); k.State != Synced && (first == "" || name < first) {
			first, why = name, strings.TrimSuffix(name+" is "+k.State.String()+": "+k.Why, ": ")
		}
	}
	return f.epoch, why, false
}

// Missing says which group version could not be discovered the last time; empty if
// all were.
func (f *Feed) Missing() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.missing
}

// Rediscover has the server asked soon what it serves: something says that it is not what it
// was. Kinds that are new are followed then, and those that are gone are dropped; what is broken
// is tried again.
func (f *Feed) Rediscover() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.again != nil {
		f.again()
	}
	for _, retry := range f.waiting {
		retry()
	}
}

// wait waits until something broken is tried again.
func (f *Feed) wait(ctx context.Context, w *follower, d time.Duration) {
	bound, retry := context.WithCancel(ctx)
	defer retry()
	f.mu.Lock()
	f.waiting[w] = retry
	f.mu.Unlock()
	f.client.wait(bound.Done(), d)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiting, w)
}

// Kinds are the states of all kinds that are followed, by group and resource.
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

// note takes a state over and tells of it. All events that came before it are
// sent.
func (f *Feed) note(k KindState) {
	f.mu.Lock()
	switch gr := k.Resource.GroupResource(); k.State {
	case Undiscovered:
	case Dropped:
		delete(f.kinds, gr)
	default:
		f.kinds[gr] = k
	}
	f.settle()
	f.mu.Unlock()
	if f.tell != nil {
		f.tell(k)
	}
}

// settle finds out whether every kind is known, and closes synced once no kind is in
// its first list.
func (f *Feed) settle() {
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
				f.epoch++ // the first one is for those who begin with everything
			}
			close(f.synced)
		}
	}
}

// discovered says that everything that a discovery has shown is followed.
func (f *Feed) discovered(d *Discovery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed, f.missing = true, ""
	if len(d.Missing) > 0 {
		f.missing = d.Missing[0].GroupVersion + ": " + d.Missing[0].Why
	}
	f.settle()
}

// send hands an event over, or gives up with the context.
func (f *Feed) send(ctx context.Context, e object.Event) error {
	select {
	case f.events <- e:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
