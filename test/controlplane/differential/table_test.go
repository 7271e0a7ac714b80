package differential

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// closing is what the tests say once all of them are done, and totals what they write
// for a program.
var (
	closing []string
	totals  []Totals
)

var totalsFile = flag.String("totals", "", "a file for what was compared, in JSON")

func TestMain(m *testing.M) {
	code := m.Run()
	for _, text := range closing {
		fmt.Println(text)
	}
	if err := writeTotals(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func writeTotals() error {
	if *totalsFile == "" {
		return nil
	}
	text, err := json.Marshal(totals)
	if err != nil {
		return err
	}
	return os.WriteFile(*totalsFile, text, 0o600)
}

// close adds a table to what is said at the end.
func (c tally) close(release string, worlds int, format string, args ...any) {
	closing = append(closing, fmt.Sprintf(format, args...)+" on "+release+"\n"+c.String())
	sum := Totals{Release: release, Worlds: worlds}
	for _, n := range c {
		sum.Objects += n[objects]
		sum.Wrong += n[wrong]
		for _, v := range ends {
			sum.Phases += n[v]
		}
	}
	totals = append(totals, sum)
}

// bench is a court at one of the cells.
type bench struct {
	*court
	cell string
}

// openCourts starts what the cells need; all of it ends with the test. It also returns the
// release that the control plane is of.
func openCourts(t *testing.T, slots int) (courts []bench, release string) {
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
	on := platform{Resources: l.resources, release: l.Release()}
	own := on
	own.own = true
	if strings.Contains(*cells, "C") {
		s := &simulated{on: on, discovery: l.discovery, slots: slots}
		t.Cleanup(func() {
			if err := s.rest(); err != nil {
				t.Error(err)
			}
		})
		courts = append(courts, bench{&court{site: s, on: on, slots: slots}, "C"})
	}
	if strings.Contains(*cells, "B") {
		u := &ours{live: l}
		t.Cleanup(func() {
			if err := u.rest(); err != nil {
				t.Error(err)
			}
		})
		courts = append(courts, bench{&court{site: u, on: own, slots: slots}, "B"})
	}
	if strings.Contains(*cells, "E") {
		p := &production{live: l}
		t.Cleanup(func() {
			if err := p.rest(); err != nil {
				t.Error(err)
			}
		})
		courts = append(courts, bench{&court{site: p, on: own, slots: slots, silent: true}, "E"})
	}
	if strings.Contains(*cells, "D") {
		courts = append(courts, bench{&court{site: l, on: on, slots: slots}, "D"})
	}
	return courts, l.Release()
}

// ends are the verdicts that count a phase.
var ends = []verdict{predicted, contested, raced, remembered, wrong}

// row is a line of the closing table.
type row struct{ cell, what string }

// tally counts verdicts and objects.
type tally map[row]map[verdict]int

// Columns beside the verdicts: the objects that were compared, those of them in
// phases that ended in a state a dry run knows, and of the phases that did not end
// as predicted those of which a dry run that explores warns.
const (
	objects verdict = 100 + iota
	agreed
	warned
	silent
	// Of the requests of the collector: those that were compared, those that only
	// the dry run or only the collector sent, and those that were not compared
	// because they were refused or had been sent before.
	asked
	differing
	ignored
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
	if t.verdict != wrong && t.verdict != undecided {
		c[r][agreed] += len(t.before)
	}
	if t.announced {
		c[r][warned]++
	}
	if len(t.unsaid) > 0 {
		c[r][silent]++
	}
	_, only := difference(t.now.requests, t.expected.requests)
	c[r][asked] += len(t.asked.done)
	c[r][differing] += only
	c[r][ignored] += t.asked.repeated() + t.asked.refused
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
	fmt.Fprintf(&b, "%-4s %-10s %6s %7s", "cell", "", "phases", "objects")
	for _, v := range ends {
		fmt.Fprintf(&b, " %s", v)
	}
	fmt.Fprintf(&b, " %s %s %s %s %s %s", "(warned)", "(silent)", "requests", "differing", "ignored", "agreement")
	for _, r := range slices.SortedFunc(maps.Keys(c), func(a, b row) int { return strings.Compare(a.cell+a.what, b.cell+b.what) }) {
		n := 0
		for _, v := range ends {
			n += c[r][v]
		}
		fmt.Fprintf(&b, "\n%-4s %-10s %6d %7d", r.cell, r.what, n, c[r][objects])
		for _, v := range ends {
			fmt.Fprintf(&b, " %*d", len(v.String()), c[r][v])
		}
		fmt.Fprintf(&b, " %8d %8d %8d %9d %7d %8.2f%%", c[r][warned], c[r][silent], c[r][asked], c[r][differing], c[r][ignored],
			100*float64(c[r][agreed])/float64(max(1, c[r][objects])))
	}
	return b.String()
}
