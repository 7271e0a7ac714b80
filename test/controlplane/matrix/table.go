package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The table stands between these lines of the page.
const (
	begin = "<!-- made by make matrix -->\n"
	end   = "<!-- end of the matrix -->\n"
	head  = "| release | states | objects | wrong | scenario files | upstream's suite | took | measured |\n|---|---|---|---|---|---|---|---|\n"
)

// enter writes a result into the table of a page, in the place of an older one of the same
// minor release.
func enter(page string, r result) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	changed, err := entered(string(text), r)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(changed), 0o644)
}

func entered(page string, r result) (string, error) {
	before, rest, found := strings.Cut(page, begin)
	table, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("it has no lines %q and %q", begin, end)
	}
	var rows []string
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| v") && minor(line) != minor(r.row()) {
			rows = append(rows, line)
		}
	}
	rows = append(rows, r.row())
	slices.SortFunc(rows, func(a, b string) int { return minor(a) - minor(b) })
	return before + begin + head + strings.Join(rows, "") + end + after, nil
}

// row is the line of a result.
func (r result) row() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %d of %d | %d of %d | %s | %s |\n", r.release, grouped(r.states), grouped(r.objects), grouped(r.wrong),
		r.files.passed, r.files.total, r.upstream.passed, r.upstream.total, strings.TrimSuffix(r.took.Round(time.Minute).String(), "0s"), r.day)
}

// minor is the minor release that a row is about.
func minor(row string) int {
	parts := strings.Split(row, ".")
	n, _ := strconv.Atoi(parts[min(1, len(parts)-1)]) // rows are what row writes
	return n
}

// grouped is a number with a comma after its thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
