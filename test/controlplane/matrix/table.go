package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// enter writes a result into the table, in the place of an older one of the same minor release.
func enter(table string, m release.Measurement) error {
	text, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	return os.WriteFile(table, []byte(entered(string(text), m)), 0o644)
}

func entered(table string, m release.Measurement) string {
	var head, rows []string
	for line := range strings.Lines(table) {
		switch {
		case strings.HasPrefix(line, "#"):
			head = append(head, line)
		case minor(line) != minor(row(m)):
			rows = append(rows, line)
		}
	}
	rows = append(rows, row(m))
	slices.SortFunc(rows, func(a, b string) int { return minor(a) - minor(b) })
	return strings.Join(append(head, rows...), "")
}

// row is the line of a result, as release.Measurements reads it.
func row(m release.Measurement) string {
	return fmt.Sprintf("%s %s %d %d %d %d %d %d %d %d %d %d\n", m.Version, m.Day, m.States, m.Objects, m.Wrong,
		m.Files[0], m.Files[1], m.Shown[0], m.Shown[1], m.Suite[0], m.Suite[1], m.Minutes)
}

// minor is the minor release that a row is about.
func minor(row string) int {
	version, _, _ := strings.Cut(row, " ")
	return int(release.MinorOf(version))
}
