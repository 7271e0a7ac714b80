package main

import (
	"errors"
	"fmt"
	"strings"
)

// behaviour is one numbered row of the table.
type behaviour struct {
	id, section, what string
	// waits says why nothing can simulate it yet; empty when something can.
	waits string
}

// parseTable reads the table: a header line, then four columns separated by
// tabs. Numbers have to be unique and ascending, so that a row is found and a
// merge that doubles one is noticed.
func parseTable(text string) ([]behaviour, error) {
	var rows []behaviour
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if i == 0 {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 4 {
			return nil, fmt.Errorf("scenarios.tsv:%d: %d columns, want 4", i+1, len(cells))
		}
		row := behaviour{id: cells[0], section: cells[1], what: cells[2], waits: cells[3]}
		if !isNumber(row.id) || row.section == "" || row.what == "" {
			return nil, fmt.Errorf("scenarios.tsv:%d: number, section and text are needed", i+1)
		}
		if n := len(rows); n > 0 && rows[n-1].id >= row.id {
			return nil, fmt.Errorf("scenarios.tsv:%d: %s does not come after %s", i+1, row.id, rows[n-1].id)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, errors.New("scenarios.tsv: no rows")
	}
	return rows, nil
}

// isNumber reports whether s is an S and three digits.
func isNumber(s string) bool {
	if len(s) != 4 || s[0] != 'S' {
		return false
	}
	for _, c := range s[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// unknown names every claim that the table does not have.
func unknown(table []behaviour, claims []claim) error {
	known := map[string]bool{}
	for _, row := range table {
		known[row.id] = true
	}
	var errs []error
	for _, c := range claims {
		if !known[c.id] {
			errs = append(errs, fmt.Errorf("%s:%d: covers %s, which is not in scenarios.tsv", c.file, c.line, c.id))
		}
	}
	return errors.Join(errs...)
}
