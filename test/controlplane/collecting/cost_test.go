package collecting

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

var (
	objects = flag.Int("objects", 500, "dependents in each world whose collection is measured")
	rounds  = flag.Int("rounds", 1, "how often a benchmark compares with upstream's collector and with a client that only writes")
	// The time in which nothing may be sent but four questions for what is served.
	quiet = flag.Duration("quiet", 2*time.Second, "how long to watch a collector that has nothing to do")
)

// counter counts the requests of one client.
type counter struct {
	mu   sync.Mutex
	sent map[string]int
}

// note counts a request by its method; watches and discovery have names of their
// own.
func (c *counter) note(r *http.Request) {
	kind := r.Method
	switch {
	case r.URL.Query().Get("watch") != "":
		kind = "watch"
	case r.URL.Path == "/api" || r.URL.Path == "/apis":
		kind = "discovery"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[kind]++
}

// looks is how often one of the documents of discovery was asked for.
func (c *counter) looks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent["discovery"] / 2 // it has two documents
}

// take returns the counts and begins anew.
func (c *counter) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.sent
	c.sent = map[string]int{}
	return was
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// through are kubectl's flags for a cluster, with every request counted.
func (c *counter) through(of *cluster.Cluster) *genericclioptions.ConfigFlags {
	return of.Flags().WithWrapConfigFn(func(config *rest.Config) *rest.Config {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				c.note(r)
				return next.RoundTrip(r)
			})
		})
		return config
	})
}

// sum adds up counts, watches and discovery apart.
func sum(counts map[string]int) int {
	n := 0
	for kind, count := range counts {
		if kind != "watch" && kind != "discovery" {
			n += count
		}
	}
	return n
}

// text is counts for people.
func text(counts map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, counts[kind]))
	}
	return strings.Join(parts, ", ")
}

// TestRequests counts what our collector sends for each world, to the last request.
func TestRequests(t *testing.T) {
	for _, l := range loads(*objects) {
		t.Run(l.name, func(t *testing.T) {
			s := share(t)
			root := s.build(l, *objects)
			c := &counter{sent: map[string]int{}}
			startAs(t, c.through(s.Cluster), kube.CollectorOptions{SyncPeriod: time.Hour}, kube.Options{})
			c.take()
			s.remove(root, l.policy)
			s.until("everything is collected", func() bool { return s.done(l) })
			sent := c.take()
			n := sum(sent)
			t.Logf("%d objects: %d requests, %.4f each: %s", l.collected(*objects), n, float64(n)/float64(l.collected(*objects)), text(sent))
			if float64(n) > l.budget(*objects) {
				t.Errorf("%d requests, the budget is %.0f", n, l.budget(*objects))
			}
			if l.policy == "Orphan" {
				for _, o := range s.list(s.at("configmaps")) {
					if len(o.OwnerReferences) > 0 || o.DeletionTimestamp != "" {
						t.Errorf("%s was not released", o.Name)
					}
				}
			}
		})
	}
}

// TestNothingToDo: a collector of a cluster in which nothing changes comes to ask for
// nothing but what is served.
func TestNothingToDo(t *testing.T) {
	s := share(t)
	s.build(loads(100)[0], 100)
	c := &counter{sent: map[string]int{}}
	g := startAs(t, c.through(s.Cluster), kube.CollectorOptions{SyncPeriod: *quiet / 4}, kube.Options{})
	s.fence("configmaps")
	s.until("every kind is watched", func() bool {
		return !slices.ContainsFunc(g.feed.Kinds(), func(k kube.KindState) bool { return k.State != kube.Synced })
	})
	s.until("it asks four times what is served, and in between for nothing else", func() bool {
		c.take() // what is under way from before shows now
		s.until("discovery is repeated four times", func() bool { return c.looks() >= 4 })
		sent := c.take()
		t.Log(text(sent))
		return sum(sent) == 0
	})
}

// measured is one collection.
type measured struct {
	took     time.Duration
	requests int
	kinds    map[string]int
}

// BenchmarkCost compares our collector with that of Kubernetes, and with a client that
// sends nothing but the writes, on the same server, in turns. The best of the rounds
// counts: whatever else runs only adds.
func BenchmarkCost(b *testing.B) {
	for _, l := range loads(*objects) {
		b.Run(l.name, func(b *testing.B) {
			best := map[string]measured{}
			for b.Loop() {
				for round := range *rounds {
					for _, who := range []string{"ours", "upstream", "writes"} {
						m := measure(b, l, fmt.Sprintf("cost %s %d %d %s", l.name, b.N, round, who), who)
						b.Logf("%s: %d objects in %s, %d requests: %s", who, l.collected(*objects), m.took.Round(time.Millisecond), m.requests, text(m.kinds))
						if have, ok := best[who]; !ok || m.took < have.took {
							best[who] = m
						}
					}
				}
			}
			n := float64(l.collected(*objects))
			rate := func(who string) float64 { return n / best[who].took.Seconds() }
			for _, who := range []string{"ours", "upstream", "writes"} {
				b.ReportMetric(float64(best[who].requests)/n, "requests/object-"+who)
				b.ReportMetric(rate(who), "objects/s-"+who)
			}
			b.ReportMetric(rate("ours")/rate("upstream"), fmt.Sprintf("of-upstream(%.1f)", l.faster))
			b.ReportMetric(rate("ours")/rate("writes"), "of-writes(0.85)")
		})
	}
}

// measure has a world in a namespace collected by somebody.
func measure(b *testing.B, l load, namespace, who string) measured {
	b.Helper()
	s := &stage{Cluster: plane, t: b}
	s.namespace = s.space(named(namespace))
	root := s.build(l, *objects)
	var phases [][]write
	switch who {
	case "ours":
		defer start(b, s.Cluster, kube.CollectorOptions{SyncPeriod: time.Hour}, kube.Options{}).end()
		s.fence("configmaps")
	case "upstream":
		if err := s.Controllers("garbage-collector-controller"); err != nil {
			b.Fatal(err)
		}
		defer func() {
			if err := s.Controllers(); err != nil {
				b.Error(err)
			}
		}()
		s.fence("configmaps")
	}
	before := s.written()
	if who == "writes" {
		phases = s.writes(l)
	}
	began := time.Now()
	s.remove(root, l.policy)
	s.send(phases)
	tick := time.NewTicker(10 * time.Millisecond) // what is measured is not looked at less and less often
	defer tick.Stop()
	for !s.done(l) {
		<-tick.C
	}
	m := measured{took: time.Since(began), kinds: map[string]int{}}
	for verb, n := range s.written() {
		n -= before[verb]
		if verb == http.MethodDelete {
			n-- // of the root
		}
		if n > 0 {
			m.kinds[verb] = n
			m.requests += n
		}
	}
	return m
}
