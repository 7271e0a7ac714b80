package main

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

func TestEntered(t *testing.T) {
	measured := func(version string, wrong int) release.Measurement {
		return release.Measurement{Version: version, Day: "2026-11-26", States: 1040, Objects: 1234567, Wrong: wrong,
			Files: [2]int{70, 71}, Shown: [2]int{6, 6}, Suite: [2]int{15, 15}, Minutes: 83}
	}
	table := "# a\n# b\n"
	for _, m := range []release.Measurement{measured("v1.36.3", 0), measured("v1.31.0", 2), measured("v1.36.4", 1)} {
		table = entered(table, m)
	}
	want := "# a\n# b\n" +
		"v1.31.0 2026-11-26 1040 1234567 2 70 71 6 6 15 15 83\n" +
		"v1.36.4 2026-11-26 1040 1234567 1 70 71 6 6 15 15 83\n"
	if table != want {
		t.Errorf("the table is\n%s\nwant\n%s", table, want)
	}
}

// The suite has the tests that upstream's has.
func TestUpstreamTests(t *testing.T) {
	t.Chdir("..")
	names, err := upstreamTests()
	if err != nil || len(names) != 15 {
		t.Errorf("%d tests, %v, want 15: %q", len(names), err, names)
	}
}
