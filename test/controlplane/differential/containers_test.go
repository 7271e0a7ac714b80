package differential

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

var (
	inhabited = flag.Int("containers", extent.Of(8, 320), "the number of worlds in which namespaces and CRDs are deleted: cell F")
	atOnce    = flag.Int("containers-batch", 40, "the number of those worlds at a time")
	acted     = flag.Int("containers-phases", extent.Of(1, 3), "the number of times that users do something in those worlds, at most; each takes a quarter of a minute")
)

// What a dry run says of a world in which namespaces and definitions are deleted is
// what happens to it on a real control plane with all the controllers that delete:
// cell F.
func TestContainers(t *testing.T) {
	if !strings.Contains(*cells, "F") {
		t.Logf("of the cells %s are wanted", *cells)
		return
	}
	began := time.Now()
	s, err := raise()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	var stories []story
	for i := range *inhabited {
		s := drawContainers(*seed + uint64(i))
		s.phases = s.phases[:min(*acted, len(s.phases))]
		stories = append(stories, s)
	}
	batches, err := portions(t.Context(), stories, *atOnce)
	if err != nil {
		t.Fatal(err)
	}
	census := census{}
	next := 0
	for i, batch := range batches {
		start := time.Now()
		var worst []*deletion
		err := s.batch(t.Context(), next, batch, func(d *deletion) {
			census.add(d)
			switch d.verdict {
			case wrong:
				t.Errorf("cell F: %s", d.report())
				worst = append(worst, d)
			case contested:
				t.Logf("cell F: %s", d.report())
			case undecided, predicted, raced, remembered:
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		next += len(batch)
		t.Logf("cell F, batch %d, %d worlds in %s", i, len(batch), time.Since(start).Round(time.Millisecond))
		for _, d := range worst {
			if *small > 0 {
				least, err := s.smallest(t.Context(), d, &next, *atOnce, *small)
				if err != nil {
					t.Fatal(err)
				}
				t.Errorf("cell F, made smaller: %s", least.report())
			}
		}
		if t.Failed() {
			break
		}
	}
	text, sum := census.close(s.Release(), *inhabited, *seed, time.Since(began))
	closing, totals = append(closing, text), append(totals, sum)
}

// A seed is one story, and everything in it has its namespace and its definition.
func TestContainerSeedsAreStories(t *testing.T) {
	for seed := range uint64(300) {
		a, b := drawContainers(seed), drawContainers(seed)
		if scenarioText(a.objects) != scenarioText(b.objects) || len(a.phases) != len(b.phases) {
			t.Errorf("seed %d is drawn as\n%s\nand as\n%s", seed, scenarioText(a.objects), scenarioText(b.objects))
		}
		if n := len(a.objects); n < 5 || n > 65 {
			t.Errorf("seed %d has %d objects", seed, n)
		}
		if len(a.phases[0]) == 0 || !inhabitable(story{objects: a.objects, phases: a.phases[:1]}) {
			t.Errorf("seed %d cannot stand anywhere:\n%s", seed, scenarioText(a.objects))
		}
	}
}

// What enters a place leaves it as it was drawn, and meets nothing of another place.
func TestContainersComeBack(t *testing.T) {
	for seed := range uint64(100) {
		s := drawContainers(seed)
		other := map[string]bool{}
		for _, o := range s.objects {
			other[placeOf(1).enter(o).Ref.String()] = true
		}
		var back []*object.Object
		for _, o := range s.objects {
			in := placeOf(11).enter(o)
			if other[in.Ref.String()] {
				t.Errorf("seed %d: %s is in two places", seed, in.Ref)
			}
			if _, err := placeOf(11).keep(in, nil); err != nil {
				t.Error(err)
			}
			back = append(back, placeOf(11).leave(in))
		}
		if a, b := scenarioText(s.objects), scenarioText(back); a != b {
			t.Errorf("seed %d:\n%s\ncame back as\n%s", seed, a, b)
		}
	}
}

// No batch holds up the workers that the API server has for definitions.
func TestPortions(t *testing.T) {
	var stories []story
	for seed := range uint64(200) {
		stories = append(stories, drawContainers(seed))
	}
	batches, err := portions(t.Context(), stories, 24)
	if err != nil {
		t.Fatal(err)
	}
	seen, most := map[uint64]bool{}, 0
	for _, batch := range batches {
		held := 0
		for _, s := range batch {
			n, err := heldDefinitions(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			held += n
			seen[s.seed] = true
		}
		most = max(most, held)
		if len(batch) > 24 || held > crowd {
			t.Errorf("%d worlds, %d CRDs that may be held", len(batch), held)
		}
	}
	if most == 0 {
		t.Error("no CRD of any world is held")
	}
	if len(seen) != len(stories) {
		t.Errorf("%d of %d stories", len(seen), len(stories))
	}
}

// A forecast that is wrong about anything is noticed.
func TestMisses(t *testing.T) {
	s := drawContainers(5)
	right := forecast{state: stateOf(s.objects), conditions: map[string][]string{"n": {"NamespaceContentRemaining"}}}
	now := seen{s.objects, map[string][]string{"n": {"NamespaceContentRemaining"}}}
	if wrong := right.misses(now); len(wrong) > 0 {
		t.Errorf("of a world as foretold it misses %q", wrong)
	}
	for i, o := range s.objects {
		without := seen{slices.Delete(slices.Clone(s.objects), i, i+1), now.conditions}
		if wrong := right.misses(without); !slices.Equal(wrong, []string{o.Ref.String()}) {
			t.Errorf("%s has gone; missed: %q", o.Ref, wrong)
		}
		less := forecast{state: maps.Clone(right.state)}
		delete(less.state, o.Ref.String())
		if wrong := less.misses(now); !slices.Equal(wrong, []string{o.Ref.String()}) {
			t.Errorf("%s should have gone; missed: %q", o.Ref, wrong)
		}
	}
	other := seen{s.objects, map[string][]string{"n": nil}}
	if wrong := right.misses(other); len(wrong) != 1 || !strings.HasPrefix(wrong[0], "conditions of n") {
		t.Errorf("other conditions; missed: %q", wrong)
	}
}
