package engine_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// uneven delays every event by its own time. Events of one kind stay in order.
func uneven(seed uint64) func(object.Event) time.Duration {
	random := rand.New(rand.NewPCG(seed, 0))
	return func(object.Event) time.Duration { return time.Duration(random.IntN(20)) * time.Millisecond }
}

// live runs acts in a world to rest, in a bubble, while kubelets finish pods.
func live(t *testing.T, w *cluster, acts []scenario.Act) (err error) {
	synctest.Test(t, func(t *testing.T) {
		w.begin()
		for _, a := range acts {
			_ = w.user(func(ctx context.Context, s *apisim.Server) error {
				a.Apply(ctx, s)
				return nil
			})
		}
		err = w.run(t.Context(), engine.RunOptions{UntilRest: true, Idle: w.kubelet})
	})
	if err == nil {
		err = w.collector.Graph().Check()
	}
	return err
}

// kubelet finishes pods when no other work is left.
func (c *cluster) kubelet() bool {
	pods := c.server.Lingering()
	for _, ref := range pods {
		_ = c.user(func(ctx context.Context, s *apisim.Server) error {
			return s.Delete(ctx, ref, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
		})
	}
	return len(pods) > 0
}

// The live driver reaches the end state of the sequential one, with and without economy, under both
// rule sets, for any timing of watches and workers.
func TestPropertyRunEndsAsDrain(t *testing.T) {
	compared := 0
	rapid.Check(t, func(rt *rapid.T) {
		rules := rapid.SampledFrom([]engine.Rules{engine.Upstream, engine.Strict}).Draw(rt, "rules")
		allowed := confluent &^ scenario.RepeatedOwners
		if rules == engine.Strict { // they cannot resolve references with other coordinates, and that is contested
			allowed &^= scenario.Mismatches | scenario.Aliases
		}
		world := scenario.DrawWorld(rt, allowed)
		acts := scenario.DrawDeletes(rt, world, scenario.Policies[:2])
		if contested(rt, world, acts) {
			return
		}
		compared++
		plain := newRig(rt, world, engine.WithRules(rules)).sync().drain().act(acts...).drain()
		options := []engine.Option{engine.WithRules(rules)}
		if rapid.Bool().Draw(rt, "economy") {
			options = append(options, engine.WithEconomy())
		}
		settled := newRig(rt, world, options...).sync().drain()
		w := around(settled.server, settled.collector)
		w.lag = uneven(rapid.Uint64().Draw(rt, "seed"))
		if err := live(t, w, acts); err != nil {
			plain.fatalf("%v", err)
		}
		got := &rig{t: rt, world: world, server: w.server}
		if got.outcomes() != plain.outcomes() {
			plain.fatalf("the live driver ends in\n%s\nthe sequential one in\n%s", got.outcomes(), plain.outcomes())
		}
	})
	if compared == 0 {
		t.Error("every world was contested: the property says nothing")
	}
}

// Strict rules never delete an object with a living owner under any order of events, and every
// DELETE has both preconditions.
func TestPropertyRunStrict(t *testing.T) {
	deletes := 0
	rapid.Check(t, func(rt *rapid.T) {
		world := scenario.DrawWorld(rt, scenario.Wild&^(scenario.RepeatedUIDs|scenario.Unwatched))
		w := newCluster(world.Objects, engine.WithRules(engine.Strict), engine.WithEconomy())
		w.lag = uneven(rapid.Uint64().Draw(rt, "seed"))
		r := &rig{t: rt, world: world, resources: w.resources, server: w.server}
		acts := scenario.DrawDeletes(rt, world, scenario.Policies)
		w.judge = func(o *object.Object) string {
			deletes++
			return r.protected(o)
		}
		if err := live(t, w, acts); err != nil {
			r.fatalf("%v", err)
		}
		if w.wrong != "" {
			r.fatalf("%s", w.wrong)
		}
		if w.pinless > 0 {
			r.fatalf("%d deletes were not pinned", w.pinless)
		}
	})
	if deletes == 0 {
		t.Error("nothing was ever deleted: the property says nothing")
	}
}
