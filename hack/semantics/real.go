package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// shownFile is the file that says which behaviours were shown on a real control plane,
// and why the others were not. The tests of the control plane hold it to what they
// really run.
const shownFile = "test/controlplane/real.txt"

// shown is what real.txt says of one behaviour.
type shown struct {
	by  []showing
	why string // there is nothing to show; empty when something was shown
}

// showing is a file that ran on a real control plane.
type showing struct{ how, file string }

// parseLedger reads lines of the form `S001 replay FILE` and `S065 not: REASON`.
// Every behaviour of the table has one or the other.
func parseLedger(text string, table []behaviour) (map[string]shown, error) {
	truth := map[string]shown{}
	var errs []error
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, rest, _ := strings.Cut(line, " ")
		how, what, _ := strings.Cut(rest, " ")
		s := truth[id]
		switch {
		case !isNumber(id) || what == "":
			errs = append(errs, fmt.Errorf("%s:%d: want a number, how it was shown, and a file; or a number, `not:` and why", shownFile, i+1))
			continue
		case how == "not:":
			s.why = what
		default:
			s.by = append(s.by, showing{how, what})
		}
		if s.why != "" && len(s.by) > 0 {
			errs = append(errs, fmt.Errorf("%s:%d: %s was shown and was not", shownFile, i+1, id))
		}
		truth[id] = s
	}
	for id := range truth {
		if !slices.ContainsFunc(table, func(r behaviour) bool { return r.id == id }) {
			errs = append(errs, fmt.Errorf("%s: %s is not in scenarios.tsv", shownFile, id))
		}
	}
	for _, row := range table {
		if _, ok := truth[row.id]; !ok {
			errs = append(errs, fmt.Errorf("%s: nothing is said of %s", shownFile, row.id))
		}
	}
	return truth, errors.Join(errs...)
}
