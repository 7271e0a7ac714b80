package collect

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Options configure Run. The zero value is the collector of Kubernetes for a whole cluster, until
// the context ends.
type Options struct {
	// Rules say how absence is judged. Under engine.Strict the absence of every owner must be
	// proven (kube.Proven).
	Rules engine.Rules
	// AbsentGracePeriod is how long an owner that no watch has shown as deleted must stay absent
	// before it counts as absent; 0 needs a single check. It applies under engine.Strict only.
	AbsentGracePeriod time.Duration
	// Wants selects among the kinds that a collector watches; nil selects all. References to a kind
	// that is not watched are checked with the server.
	Wants func(object.Resource) bool
	// SyncPeriod is the interval of discovery; 0 means 30 seconds.
	SyncPeriod time.Duration
	// Through wraps the API between the collector and the server, for example with the limits of a
	// plan or a journal. It is called once. It may be nil.
	Through func(engine.API) engine.API
	// Kind is called concurrently for every change of a kind's state.
	Kind func(kube.KindState)
	// Listener is notified about the watches. It may be nil.
	Listener kube.Listener
	// Follow is called with the feed before the run starts, to show what is watched.
	Follow func(*kube.Feed)
	// Run configures the live driver. Run sets Synced and Uncovered itself.
	Run engine.RunOptions
}

// Run collects until the context ends, or with Options.Run.UntilRest until nothing is left to do.
// It returns the error of engine.Run. When it returns, its goroutines have ended.
func Run(ctx context.Context, client *kube.Client, o Options) error {
	ctx, stop := context.WithCancel(ctx)
	feed := client.Follow(ctx, kube.FollowOptions{Wants: o.Wants, SyncPeriod: o.SyncPeriod, State: o.Kind, Listener: o.Listener})
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
		seen := &gone{}
		api = client.Proven(kube.ProofOptions{AbsentGracePeriod: o.AbsentGracePeriod, SeenAlive: seen.has})
		if o.AbsentGracePeriod > 0 {
			events = seen.through(ctx, events)
		}
	}
	api = nowhere{api}
	if o.Through != nil {
		api = o.Through(api)
	}
	if o.Rules == engine.Strict {
		o.Run.Before = newFinalizerGuard(feed).before(o.Run.Before)
	}
	o.Run.Synced, o.Run.Uncovered = feed.Synced(), feed.Uncovered
	return engine.Run(ctx, engine.New(engine.WithRules(o.Rules), engine.WithEconomy()), api, events, o.Run)
}
