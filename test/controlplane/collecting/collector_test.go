package collecting

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// collector is ours, at work.
type collector struct {
	t      testing.TB
	client *kube.Client
	feed   *kube.Feed
	ends   func()
	do     chan func(*engine.Collector)

	mu    sync.Mutex
	looks map[types.UID]int    // finished attempts of each object
	sent  map[object.Verbs]int // by finished attempts
}

// start starts a collector over a cluster and returns when it has seen all that
// is there. The test ends it.
func start(t testing.TB, c *cluster.Cluster, o kube.CollectorOptions, connection kube.Options) *collector {
	t.Helper()
	return startAs(t, c.Flags(), o, connection)
}

// startAs is start with kubectl's flags.
func startAs(t testing.TB, as *genericclioptions.ConfigFlags, o kube.CollectorOptions, connection kube.Options) *collector {
	t.Helper()
	client, err := command.Connect(as, connection)
	if err != nil {
		t.Fatal(err)
	}
	g := &collector{t: t, client: client, do: make(chan func(*engine.Collector)), looks: map[types.UID]int{}, sent: map[object.Verbs]int{}}
	followed := make(chan *kube.Feed, 1)
	o.Follow = func(f *kube.Feed) { followed <- f }
	o.Run.Record, o.Run.Do = g.record, g.do
	if o.SyncPeriod == 0 {
		o.SyncPeriod = 300 * time.Millisecond // tests make kinds, and wait for them
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- kube.Collect(ctx, client, o) }()
	g.ends = sync.OnceFunc(func() {
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the garbage collector ended: %v", err)
		}
		client.Close()
	})
	t.Cleanup(g.ends)
	g.feed = <-followed
	select {
	case <-g.feed.Synced():
	case <-time.After(cluster.Patience):
		t.Fatalf("the garbage collector never saw all that is there: %v", g.feed.Kinds())
	}
	return g
}

// end ends it.
func (g *collector) end() { g.ends() }

// record counts what the collector did.
func (g *collector) record(r engine.Record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.looks[r.Decision.Attempt.Ref.UID]++
	for _, x := range r.Exchanges {
		g.sent[x.Verb]++
	}
}

// looked is how often an object was looked at.
func (g *collector) looked(uid string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.looks[types.UID(uid)]
}

// knows reports whether an object is in the collector's graph.
func (g *collector) knows(uid string) bool {
	g.t.Helper()
	answer := make(chan bool)
	select {
	case g.do <- func(c *engine.Collector) {
		_, known := c.Inspect(types.UID(uid))
		answer <- known
	}:
		return <-answer
	case <-time.After(cluster.Patience):
		g.t.Fatal("the garbage collector does not answer")
		return false
	}
}

// requests are those that finished attempts sent.
func (g *collector) requests() map[object.Verbs]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	sent := map[object.Verbs]int{}
	for verb, n := range g.sent {
		sent[verb] = n
	}
	return sent
}

// state is how well a kind is known; ok is false for one that is not followed.
func (g *collector) state(group, resource string) (state kube.State, ok bool) {
	kinds := g.feed.Kinds()
	i := slices.IndexFunc(kinds, func(k kube.KindState) bool {
		return k.Resource.Group == group && k.Resource.Name == resource
	})
	if i < 0 {
		return 0, false
	}
	return kinds[i].State, true
}
