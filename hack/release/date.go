package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

// date prints the time that every file of a release bears, as variables of an
// environment: the day on which CHANGELOG.md says that the version was released. A day
// of a commit would change with every rebase, and with it the hashes in krew.yaml.
func date(version string, out io.Writer) error {
	const changelog = "CHANGELOG.md"
	text, err := os.ReadFile(changelog)
	if err != nil {
		return err
	}
	released, err := releasedOn(string(text), version)
	if err != nil {
		return fmt.Errorf("%s: %w", changelog, err)
	}
	_, err = fmt.Fprintf(out, "SOURCE_DATE_EPOCH=%d SOURCE_DATE_RFC3339=%s\n", released.Unix(), released.Format(time.RFC3339))
	return err
}

// heading is that of one version, as Keep a Changelog has it: ## [0.1.0] - 2026-11-22.
var heading = regexp.MustCompile(`(?m)^## \[([^\]\n]+)\] - (\S+)$`)

// releasedOn is the day of a version, such as v0.1.0, in a changelog.
func releasedOn(changelog, version string) (time.Time, error) {
	for _, found := range heading.FindAllStringSubmatch(changelog, -1) {
		if "v"+found[1] == version {
			return time.Parse(time.DateOnly, found[2])
		}
	}
	return time.Time{}, fmt.Errorf("no heading names %s and its day, as in: ## [0.1.0] - 2026-11-22", version)
}
