package differential

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/test/extent"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

var unseen = flag.Int("unseen", extent.Of(30, 300), "the number of worlds in which plans are compared with collectors that remember")

// TestPlansSayWhatTheyCannotSee: a collector lives through a whole story, under a
// schedule as fine as single requests. Whatever it does that a plan of the moment does
// not say, the plan says that it may happen, without being asked to explore.
func TestPlansSayWhatTheyCannotSee(t *testing.T) {
	on := platform{Resources: scenario.Resources()}
	said, phases, other := 0, 0, 0
	for seed := uint64(1); seed <= uint64(*unseen); seed++ {
		s := draw(seed)
		for _, acts := range s.phases {
			for i := range acts { // what a plan can be asked
				acts[i].Policy, acts[i].Drop = cmp.Or(acts[0].Policy, metav1.DeletePropagationBackground), ""
			}
		}
		for schedule := range uint64(4) {
			random := rand.New(rand.NewPCG(seed, schedule))
			if schedule == 0 {
				random = nil
			}
			l := lifetime{on: on, random: random, world: s.objects}
			for phase, acts := range slices.Concat([][]scenario.Act{nil}, s.phases) {
				before, after, err := l.live(t.Context(), acts)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				p, ok := seedOf(before, acts)
				if !ok {
					continue
				}
				snap, err := on.snapshot(before)
				if err != nil {
					t.Fatal(err)
				}
				result, err := plan.Simulate(t.Context(), snap, p, plan.Options{Record: plan.RecordRequests, Explore: plan.Usual, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				phases++
				differ, unsaid := compared(result, after)
				if differ > 0 {
					other++
				}
				if len(unsaid) == 0 {
					said += min(1, differ)
					continue
				}
				t.Errorf("seed %d, schedule %d, phase %d: %v not said (%+v)\nbefore\n%s\n%v\npredicted\n%sand was\n%s", seed, schedule, phase, unsaid, *result.Plan.Exploration, text(before), acts, text(result.After()), text(after))
			}
		}
	}
	t.Logf("%d phases, %d ended otherwise, of which %d were said", phases, other, said)
	if said == 0 {
		t.Error("every phase ended as predicted: the test shows nothing")
	}
}

// lifetime is a collector and its server, from the first list on.
type lifetime struct {
	on     platform
	random *rand.Rand
	world  []*object.Object
	m      *mirror
	c      *engine.Collector
}

// live lets users act, and the collector until it is at rest.
func (l *lifetime) live(ctx context.Context, acts []scenario.Act) (before, after []*object.Object, err error) {
	if l.m == nil {
		l.m = &mirror{Server: l.on.server(l.world), resources: l.on.Resources, random: l.random}
		l.c = l.on.collector()
		before = clones(listed(l.m.Objects()))
		l.m.start(l.c, l.random, true)
	} else {
		before = clones(listed(l.m.Objects()))
	}
	l.m.begin(slices.Clone(acts))
	l.m.act(ctx)
	idle := func() bool { return l.m.act(ctx) || l.m.kubelet(ctx) }
	if l.random == nil {
		for l.m.act(ctx) {
		}
		err = engine.Drain(ctx, l.c, l.m, engine.Follow{Idle: idle})
	} else {
		err = (&schedule{c: l.c, m: l.m, random: l.random, idle: idle}).run(ctx)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%d acts: %w", len(acts), err)
	}
	return before, clones(listed(l.m.Objects())), nil
}
