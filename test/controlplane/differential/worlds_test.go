package differential

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

var (
	count = flag.Int("worlds", 100, "the number of worlds")
	seed  = flag.Uint64("seed", 1, "the seed of the first world")
	most  = flag.Int("batch", 100, "the number of worlds at a time")
)

// What a dry run says of a drawn world is what happens to it on a real control
// plane, or it is one of the states that other schedules lead to.
func TestWorlds(t *testing.T) {
	began := time.Now()
	l, err := open(t.Context(), min(*most, *count))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Stop(); err != nil {
			t.Error(err)
		}
	}()
	t.Logf("cluster ready after %s", time.Since(began).Round(time.Millisecond))
	tally := map[string]int{}
	for first := 0; first < *count; first += *most {
		var stories []story
		for i := first; i < min(first+*most, *count); i++ {
			stories = append(stories, draw(*seed+uint64(i)))
		}
		start := time.Now()
		err := l.batch(t.Context(), stories, func(tr *trial) {
			what := "delete"
			switch tr.phase {
			case 0:
				what = "start"
			case 2:
				what = "meddle"
			}
			tally[fmt.Sprintf("%-8s %s", what, tr.verdict)]++
			tally[fmt.Sprintf("%-8s objects", what)] += len(tr.before)
			switch tr.verdict {
			case wrong:
				t.Error(tr.report())
			case contested, raced, remembered:
				if testing.Verbose() && *count <= 100 {
					t.Log(tr.report())
				}
			case undecided, predicted:
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("worlds %d to %d in %s", first, first+len(stories)-1, time.Since(start).Round(time.Millisecond))
	}
	table(t, tally, time.Since(began))
}
