package differential

import (
	"maps"
	"slices"
	"testing"
	"time"
)

// The worlds of the engine's scenario files, and the deletes in them, end on a
// real control plane as a dry run says.
func TestScenarioFiles(t *testing.T) {
	began := time.Now()
	files, err := fileStories(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	var stories []story
	names := map[uint64]string{}
	unfit := map[string]string{}
	for i, f := range files {
		if f.unfit != "" {
			unfit[f.file] = f.unfit
			continue
		}
		f.seed = uint64(i)
		names[f.seed] = f.file
		if f.cut != "" {
			names[f.seed] += " until " + f.cut
		}
		stories = append(stories, f.story)
	}
	tally := tally{}
	courts, release := openCourts(t, len(stories))
	for _, c := range courts {
		err := c.batch(t.Context(), stories, func(tr *trial) {
			tally.add(c.cell, tr)
			switch tr.verdict {
			case predicted:
			case wrong, undecided:
				t.Errorf("cell %s: %s: %s", c.cell, names[tr.seed], tr.report())
			case contested, raced, remembered:
				t.Logf("cell %s: %s, phase %d: %s", c.cell, names[tr.seed], tr.phase, tr.verdict)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(unfit)) {
		t.Logf("%s: not here: %s", file, unfit[file])
	}
	tally.close(release, len(stories), "%d worlds of the scenario files in %s", len(stories), time.Since(began).Round(time.Second))
}
