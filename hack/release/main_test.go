package main

import (
	"strings"
	"testing"
)

func TestReleasedOn(t *testing.T) {
	const changelog = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0-rc.1] - 2026-12-01\n\n## [0.1.0] - 2026-11-22\n\n## [0.0.1] - yesterday\n"
	for version, want := range map[string]string{
		"v0.1.0":      "2026-11-22T00:00:00Z",
		"v0.2.0-rc.1": "2026-12-01T00:00:00Z",
	} {
		if got, err := releasedOn(changelog, version); err != nil || got.Format("2006-01-02T15:04:05Z07:00") != want {
			t.Errorf("%s: %v, %v", version, got, err)
		}
	}
	for version, want := range map[string]string{
		"v0.2.0": "no heading names v0.2.0",
		"0.1.0":  "no heading names 0.1.0",
		"v0.0.1": `cannot parse "yesterday"`,
	} {
		if got, err := releasedOn(changelog, version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", version, got, err)
		}
	}
}
