package main

import (
	"testing"
	"time"
)

func TestEntered(t *testing.T) {
	measured := func(release string, wrong int) result {
		return result{release: release, states: 1040, objects: 1234567, wrong: wrong, files: outcome{70, 71}, upstream: outcome{15, 15},
			took: 83*time.Minute + 10*time.Second, day: "2026-11-26"}
	}
	page := "before\n" + begin + end + "after\n"
	for _, r := range []result{measured("v1.36.3", 0), measured("v1.31.0", 2), measured("v1.36.4", 1)} {
		var err error
		if page, err = entered(page, r); err != nil {
			t.Fatal(err)
		}
	}
	want := "before\n" + begin + head +
		"| v1.31.0 | 1,040 | 1,234,567 | 2 | 70 of 71 | 15 of 15 | 1h23m | 2026-11-26 |\n" +
		"| v1.36.4 | 1,040 | 1,234,567 | 1 | 70 of 71 | 15 of 15 | 1h23m | 2026-11-26 |\n" +
		end + "after\n"
	if page != want {
		t.Errorf("the page is\n%s\nwant\n%s", page, want)
	}
	if _, err := entered("no table\n", measured("v1.31.0", 0)); err == nil {
		t.Error("a page without a table is no error")
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
