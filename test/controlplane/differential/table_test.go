package differential

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// bench is a court at one of the cells.
type bench struct {
	*court
	cell string
}

// openCourts starts what the cells need; all of it ends with the test.
func openCourts(t *testing.T, slots int) []bench {
	t.Helper()
	l, err := open(t.Context(), slots)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Stop(); err != nil {
			t.Error(err)
		}
	})
	var list []bench
	if strings.Contains(*cells, "C") {
		s := &simulated{resources: l.resources, discovery: l.discovery, slots: slots}
		t.Cleanup(func() {
			if err := s.rest(); err != nil {
				t.Error(err)
			}
		})
		list = append(list, bench{&court{s, l.resources, slots}, "C"})
	}
	if strings.Contains(*cells, "B") {
		u := &ours{live: l}
		t.Cleanup(func() {
			if err := u.rest(); err != nil {
				t.Error(err)
			}
		})
		list = append(list, bench{&court{u, l.resources, slots}, "B"})
	}
	if strings.Contains(*cells, "D") {
		list = append(list, bench{&court{l, l.resources, slots}, "D"})
	}
	return list
}

// row is a line of the closing table.
type row struct{ cell, what string }

// tally counts verdicts and objects.
type tally map[row]map[verdict]int

// Columns beside the verdicts: the objects that were compared, and of the phases
// that did not end as predicted those of which a dry run that explores warns.
const (
	objects verdict = 100 + iota
	warned
)

func (c tally) add(cell string, t *trial) {
	r := row{cell, "start"}
	if t.phase > 0 {
		r.what = policiesOf(t)
	}
	if c[r] == nil {
		c[r] = map[verdict]int{}
	}
	c[r][t.verdict]++
	c[r][objects] += len(t.before)
	if t.announced {
		c[r][warned]++
	}
}

// policiesOf names what users did in a phase.
func policiesOf(t *trial) string {
	what := ""
	for _, a := range t.acts[t.phase] {
		this := string(a.Policy)
		switch {
		case a.Drop != "":
			this = "finalizer"
		case this == "":
			this = "no policy"
		}
		if what != "" && what != this {
			return "mixed"
		}
		what = this
	}
	return what
}

// String is the closing table.
func (c tally) String() string {
	var b strings.Builder
	columns := []verdict{predicted, contested, raced, remembered, wrong}
	fmt.Fprintf(&b, "%-5s %-12s %8s %8s", "cell", "", "phases", "objects")
	for _, v := range columns {
		fmt.Fprintf(&b, " %10s", v)
	}
	fmt.Fprintf(&b, " %10s", "(warned)")
	rows := slices.SortedFunc(maps.Keys(c), func(a, b row) int { return strings.Compare(a.cell+a.what, b.cell+b.what) })
	for _, r := range rows {
		n := 0
		for _, v := range columns {
			n += c[r][v]
		}
		fmt.Fprintf(&b, "\n%-5s %-12s %8d %8d", r.cell, r.what, n, c[r][objects])
		for _, v := range columns {
			fmt.Fprintf(&b, " %10d", c[r][v])
		}
		fmt.Fprintf(&b, " %10d", c[r][warned])
	}
	return b.String()
}
