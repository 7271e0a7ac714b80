package kube

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// CollectorOptions configure Collect. The zero value is the collector of Kubernetes for a whole
// cluster, until the context ends.
type CollectorOptions struct {
	// Rules say how absence is judged. Under engine.Strict the absence of every owner must be
	// proven (Client.Proven).
	Rules engine.Rules
	// AbsentGracePeriod is how long an owner that no watch has shown as deleted must stay absent
	// before it counts as absent; 0 needs a single check. It applies under engine.Strict only.
	AbsentGracePeriod time.Duration
	// SyncPeriod is the interval of discovery; 0 means 30 seconds.
	SyncPeriod time.Duration
	// Through wraps the API between the collector and the server, for example with the limits of a
	// plan or a journal. It is called once. It may be nil.
	Through func(engine.API) engine.API
	// Kind is called concurrently for every change of a kind's state.
	Kind func(KindState)
	// Listener is notified about the watches. It may be nil.
	Listener Listener
	// Follow is called with the feed before the run starts, to show what is watched.
	Follow func(*Feed)
	// Run configures the live driver. Collect sets Synced and Uncovered itself.
	Run engine.RunOptions
}

// Collect connects the engine to the API server: watch events go directly to the engine, and its
// decisions become requests. There is no second copy of the objects. Everything that collects goes
// through it: the one-shot command, the service, the collector of tests, and the comparison with the
// collector of Kubernetes.
//
// It collects until the context ends, or with CollectorOptions.Run.UntilRest until nothing is left to
// do. It returns the error of engine.Run. When it returns, its goroutines have ended.
func Collect(ctx context.Context, client *Client, o CollectorOptions) error {
	ctx, stop := context.WithCancel(ctx)
	feed := client.Follow(ctx, FollowOptions{SyncPeriod: o.SyncPeriod, State: o.Kind, Listener: o.Listener})
	events := feed.Events()
	defer func() {
		stop()
		for range feed.Events() { // until all watches have ended
		}
		for range events { // and until through has ended
		}
		<-feed.Done()
	}()
	if o.Follow != nil {
		o.Follow(feed)
	}
	var api engine.API = upstreamAbsence{client}
	if o.Rules == engine.Strict {
		seen := &seenDeleted{}
		api = client.Proven(ProofOptions{AbsentGracePeriod: o.AbsentGracePeriod, SeenAlive: seen.has})
		if o.AbsentGracePeriod > 0 {
			events = seen.through(ctx, events)
		}
	}
	api = impossibleNames{api}
	if o.Through != nil {
		api = o.Through(api)
	}
	if o.Rules == engine.Strict {
		o.Run.Before = (&finalizerGuard{feed: feed, epoch: 1}).before(o.Run.Before)
	}
	o.Run.Synced, o.Run.Uncovered = feed.Synced(), feed.Uncovered
	return engine.Run(ctx, engine.New(engine.WithRules(o.Rules), engine.WithEconomy()), api, events, o.Run)
}

// upstreamAbsence treats the 404 of an unserved path as the absence of an object, as the collector
// of Kubernetes does: the owner in a reference to a kind such as PodList is absent. It must be used
// with engine.Upstream only.
//
// Upstream: apimachinery/pkg/api/errors/errors.go NewGenericServerResponse: turns any 404 into the
// reason NotFound.
// Upstream: pkg/controller/garbagecollector/garbagecollector.go isDangling: looks no further.
// Rule: spec Q7, §17.
type upstreamAbsence struct{ *Client }

// Get reads the object, or reports it as absent.
func (c upstreamAbsence) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := c.Client.Get(ctx, ref)
	if unserved, ok := errors.AsType[*UnservedPathError](err); ok {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, http.MethodGet,
			schema.GroupResource{Group: object.GroupOf(ref.APIVersion), Resource: ref.Kind}, ref.Name, unserved.Answer, 0, true)
	}
	return o, err
}

// impossibleNames reports an object as absent if no object can have its name and a server would answer 404.
// Under engine.Strict such owners are never looked up.
//
// Rule: spec Q31.
type impossibleNames struct{ engine.API }

// Get reads the object, or reports it as absent.
func (n impossibleNames) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := n.API.Get(ctx, ref)
	if impossible, ok := errors.AsType[*object.ImpossibleNameError](err); ok && impossible.Absent {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: object.GroupOf(ref.APIVersion), Resource: ref.Kind}, ref.Name)
	}
	return o, err
}

// maxSeenDeleted is the maximum number of objects in seenDeleted. An object that it has forgotten
// needs a grace period again.
const maxSeenDeleted = 1 << 16

// seenDeleted has the objects that a watch has shown as deleted. They are known to have existed, so
// their absence needs no grace period. (spec §17 step 7)
type seenDeleted struct {
	mu   sync.Mutex
	uids map[types.UID]struct{}
}

// has reports whether a watch has shown the object as deleted.
func (g *seenDeleted) has(uid types.UID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.uids[uid]
	return ok
}

// add records the object of a Deleted event. An object that is only missing from a list does not
// count, because the list may come from a server with an old state. Such an event has no
// resourceVersion. That of a watch has the last state of the object.
func (g *seenDeleted) add(e object.Event) {
	if e.Type != object.Deleted || e.Object.ResourceVersion == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.uids == nil || len(g.uids) >= maxSeenDeleted {
		g.uids = map[types.UID]struct{}{}
	}
	g.uids[e.Object.UID] = struct{}{}
}

// through records and forwards events, until their channel is closed or the context ends.
func (g *seenDeleted) through(ctx context.Context, events <-chan object.Event) <-chan object.Event {
	out := make(chan object.Event)
	go func() {
		defer close(out)
		for e := range events {
			g.add(e)
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
