package collect

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Options say what is collected, and how. The zero value is the collector of
// Kubernetes, of a whole cluster, for as long as the context lasts.
type Options struct {
	// Rules say how absence is judged. Under engine.Strict every owner is asked
	// for with a proof (kube.Proven).
	Rules engine.Rules
	// AbsentGracePeriod is how long an owner that no watch has shown to go has to stay absent
	// until that counts; 0 for one look. It matters under engine.Strict only.
	AbsentGracePeriod time.Duration
	// Wants chooses among the kinds that a collector watches; nil takes all. Who
	// refers to a kind that is not watched is judged by asking the server.
	Wants func(object.Resource) bool
	// SyncPeriod is how often discovery is repeated; 0 for 30 seconds.
	SyncPeriod time.Duration
	// Through puts something between the collector and the server: the bounds of
	// a plan, a journal. It is called once; nil for nothing.
	Through func(engine.API) engine.API
	// Kind is told of every change of a kind's state, from many goroutines.
	Kind func(kube.KindState)
	// Listener is told how the watches go. It may be nil.
	Listener kube.Listener
	// Follow is handed the feed before the run starts, for those who want to show
	// what is watched.
	Follow func(*kube.Feed)
	// Run are the options of the live driver. Synced and Uncovered are set here.
	Run engine.RunOptions
}

// Run collects until the context ends, or with Options.Run.UntilRest until
// nothing is left to do, and returns as engine.Run does. When it returns, no goroutine
// of its own is left.
func Run(ctx context.Context, client *kube.Client, o Options) error {
	ctx, stop := context.WithCancel(ctx)
	feed := client.Follow(ctx, kube.FollowOptions{Wants: o.Wants, SyncPeriod: o.SyncPeriod, State: o.Kind, Listener: o.Listener})
	events := feed.Events()
	defer func() {
		stop()
		for range feed.Events() { // until all watches have ended
		}
		for range events { // and whoever hands on what they showed
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
