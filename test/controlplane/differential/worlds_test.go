package differential

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

var (
	count = flag.Int("worlds", extent.Of(60, 2000), "the number of worlds")
	seed  = flag.Uint64("seed", 1, "the seed of the first world")
	most  = flag.Int("batch", 300, "the number of worlds at a time")
	cells = flag.String("cells", "BCDEF",
		"where worlds are tried: B, our engine over a real API server; C, the garbage collector of Kubernetes over our server; "+
			"D, a real control plane; E, our collector as it is shipped, over a real API server; "+
			"F, a real control plane with everybody who deletes, for worlds of its own")
	small = flag.Int("shrink", 0, "the number of rounds in which a disagreement is made smaller")
)

// What a dry run says of a drawn world is what happens to it on a real control
// plane, what our engine does to it over a real API server, and what the collector
// of Kubernetes does to it over our simulated server; or it is one of the states that other schedules lead
// to.
func TestWorlds(t *testing.T) {
	began := time.Now()
	courts, release := openCourts(t, min(*most, *count))
	tally := tally{}
	drawn := 0
	// What is wrong in one batch would be wrong in the next ones, and slow: whatever
	// is not as predicted is waited for and searched for.
	for first := 0; first < *count && !t.Failed(); first += *most {
		var stories []story
		for i := first; i < min(first+*most, *count); i++ {
			stories = append(stories, draw(*seed+uint64(i)))
			drawn++
		}
		wrongIn := map[uint64]string{}
		for _, c := range courts {
			start := time.Now()
			var worst []*trial
			var open []*misjudged
			err := c.batch(t.Context(), stories, func(tr *trial) {
				tally.add(c.cell, tr)
				if c.cell == "D" && tr.verdict != wrong {
					m, err := tr.misjudge(t.Context(), c.on)
					if err != nil {
						t.Error(err)
					} else if m != nil {
						open = append(open, m)
					}
				}
				switch tr.verdict {
				case wrong:
					t.Errorf("cell %s: %s", c.cell, tr.report())
					worst = append(worst, tr)
					wrongIn[tr.seed] += c.cell
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
			if c.cell == "D" {
				reports, err := c.constant(t.Context(), open)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range reports {
					t.Error(r)
				}
				t.Logf("%d phases ended otherwise than a dry run says and were repeated; %d always do", len(open), len(reports))
			}
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
		for _, seed := range slices.Sorted(maps.Keys(wrongIn)) {
			t.Errorf("seed %d disagrees in %s of %s: %s", seed, wrongIn[seed], *cells, guilty(wrongIn[seed]))
		}
	}
	tally.close(release, drawn, "%d random worlds from seed %d in %s", drawn, *seed, time.Since(began).Round(time.Second))
}

// guilty names what the cells that disagree with a dry run have in common.
func guilty(cells string) string {
	switch {
	case strings.Contains(cells, "C"):
		return "internal/engine: over one and the same server the garbage collector of Kubernetes does something else"
	case strings.Contains(cells, "D"):
		return "internal/apisim: one and the same collector does something else over a real server"
	case strings.Contains(cells, "B"):
		return "the live half: engine and server agree with the dry run wherever they are apart"
	default:
		return "internal/kube, internal/controller or the economy of internal/engine: the same engine with a plain client does what was predicted"
	}
}

func TestGuilty(t *testing.T) {
	for cells, want := range map[string]string{"CD": "internal/engine", "BCD": "internal/engine", "BD": "internal/apisim", "D": "internal/apisim", "B": "the live half", "E": "internal/kube", "BDE": "internal/apisim"} {
		if got := guilty(cells); !strings.HasPrefix(got, want) {
			t.Errorf("guilty(%q) = %q, want %q", cells, got, want)
		}
	}
}
