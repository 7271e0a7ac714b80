package release_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// TestOf: a release follows the rules that it or an earlier release introduced.
func TestOf(t *testing.T) {
	for _, d := range release.Differences {
		for m, want := range map[release.Minor]bool{0: true, d.Since - 1: false, d.Since: true, release.Newest: true, release.Newest + 5: true, 1: false} {
			if got := release.Of(m).Follow(d.Rule); got != want {
				t.Errorf("%s: %q is followed: %v", m, d.Now, got)
			}
		}
	}
	if release.Of(release.Newest) != (release.Rules{}) {
		t.Error("the newest release lacks a rule")
	}
}

func TestMinorOf(t *testing.T) {
	for version, want := range map[string]release.Minor{
		"v1.37.2": 37, "1.9.0": 9, "v1.24.1+rke2r2": 24, "v1.21.14-gke.700": 21, "v1.31.2+k3s1": 31, "v1.16+": 16, "v1.18.0-alpha.3": 18,
		"": 0, "v2.1.0": 0, "v1": 0, "v1.": 0, "v1.x": 0, "v1.-3": 0, "v1.99999999999999999999": 0, "v1.4000": 0, "4.12.3": 0, "master": 0,
	} {
		if got := release.MinorOf(version); got != want {
			t.Errorf("%q: %d, want %d", version, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for m, want := range map[release.Minor]string{0: "v1.37", 10: "v1.31", 31: "v1.31", 34: "v1.34", 37: "v1.37", 99: "v1.37"} {
		if got := m.Nearest().String(); got != want {
			t.Errorf("%d: %s, not %s", m, got, want)
		}
	}
}

// TestTable: each rule has one row, the newest first. A scenario file, if a row has one, shows the
// last release without the rule and the first one with it.
func TestTable(t *testing.T) {
	seen := map[release.Rule]bool{}
	for i, d := range release.Differences {
		if seen[d.Rule] {
			t.Errorf("%q stands twice", d.Now)
		}
		seen[d.Rule] = true
		if i > 0 && release.Differences[i-1].Since < d.Since {
			t.Errorf("%q is newer than the row before", d.Now)
		}
		if d.Said != "" && reason.Release.Of(d.Said) == nil {
			t.Errorf("%s has no meaning", d.Said)
		}
		if d.Now == "" || d.Before == "" || d.Change == "" {
			t.Errorf("%+v: something is missing", d)
		}
		if d.Scenario == "" {
			continue
		}
		text, err := os.ReadFile("../" + d.Scenario)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range []release.Minor{d.Since - 1, d.Since} {
			if !slices.Contains(strings.Split(string(text), "\n"), "release "+m.String()) {
				t.Errorf("%s does not show %s", d.Scenario, m)
			}
		}
	}
}

// TestMeasurements: each line of the table is read and belongs to a measured release, and no
// release occurs twice.
func TestMeasurements(t *testing.T) {
	text, err := os.ReadFile("measured.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			lines++
		}
	}
	all := release.Measurements()
	if len(all) != lines {
		t.Errorf("%d of %d lines are read", len(all), lines)
	}
	seen := map[string]bool{}
	for _, m := range all {
		minor := m.Version[:strings.LastIndexByte(m.Version, '.')]
		if !slices.Contains(release.Measured(), minorOf(minor)) || seen[minor] {
			t.Errorf("%s is none of the releases, or stands twice", m.Version)
		}
		seen[minor] = true
		if m.Day == "" || m.States == 0 || m.Objects == 0 || m.Files[1] == 0 || m.Shown[1] == 0 || m.Suite[1] == 0 {
			t.Errorf("%+v: something was not counted", m)
		}
	}
}

// minorOf returns the measured release with that name; 0 for none.
func minorOf(name string) release.Minor {
	for _, m := range release.Measured() {
		if m.String() == name {
			return m
		}
	}
	return 0
}
