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
	l, err := open(t.Context(), len(stories))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Stop(); err != nil {
			t.Error(err)
		}
	}()
	tally := map[string]int{}
	err = l.batch(t.Context(), stories, func(tr *trial) {
		tally["phases "+tr.verdict.String()]++
		switch tr.verdict {
		case predicted:
		case wrong, undecided:
			t.Errorf("%s: %s", names[tr.seed], tr.report())
		case contested, raced, remembered:
			t.Logf("%s, phase %d: %s", names[tr.seed], tr.phase, tr.verdict)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	tally["worlds"] = len(stories)
	for _, file := range slices.Sorted(maps.Keys(unfit)) {
		t.Logf("%s: not here: %s", file, unfit[file])
	}
	table(t, tally, time.Since(began))
}
