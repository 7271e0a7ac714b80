package differential

import (
	"flag"
	"testing"
	"time"
)

var (
	count = flag.Int("worlds", 100, "the number of worlds")
	seed  = flag.Uint64("seed", 1, "the seed of the first world")
	most  = flag.Int("batch", 100, "the number of worlds at a time")
	cells = flag.String("cells", "BCD",
		"where worlds are tried: B, our engine over a real API server; C, the collector of Kubernetes over our server; D, a real control plane")
	small = flag.Int("shrink", 0, "the number of rounds in which a disagreement is made smaller")
)

// What a dry run says of a drawn world is what happens to it on a real control
// plane, what our engine does to it over a real API server, and what the collector
// of Kubernetes does to it over our simulated server; or it is one of the states that other schedules lead to.
func TestWorlds(t *testing.T) {
	began := time.Now()
	courts := openCourts(t, min(*most, *count))
	tally := tally{}
	for first := 0; first < *count; first += *most {
		var stories []story
		for i := first; i < min(first+*most, *count); i++ {
			stories = append(stories, draw(*seed+uint64(i)))
		}
		for _, c := range courts {
			start := time.Now()
			var worst []*trial
			err := c.batch(t.Context(), stories, func(tr *trial) {
				tally.add(c.cell, tr)
				switch tr.verdict {
				case wrong:
					t.Errorf("cell %s: %s", c.cell, tr.report())
					worst = append(worst, tr)
				case contested, raced, remembered:
					if testing.Verbose() && *count <= 100 {
						t.Logf("cell %s: %s", c.cell, tr.report())
					}
				case undecided, predicted:
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("cell %s, worlds %d to %d in %s", c.cell, first, first+len(stories)-1, time.Since(start).Round(time.Millisecond))
			for _, tr := range worst {
				if *small > 0 {
					smallest, err := c.shrink(t.Context(), tr, *small)
					if err != nil {
						t.Fatal(err)
					}
					t.Errorf("cell %s, made smaller: %s", c.cell, smallest.report())
				}
			}
		}
	}
	t.Logf("in %s\n%s", time.Since(began).Round(time.Second), tally)
}
