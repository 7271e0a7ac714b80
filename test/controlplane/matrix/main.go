// Command matrix measures what is predicted against control planes of several releases,
// one after the other, and writes down what was seen:
//
//	go run ./matrix -worlds 1000 -table FILE BINARY…
//
// For each it runs the packages replay and differential, what package collecting has of the
// tests of Kubernetes' own collector, and the tests of what releases do otherwise. Releases that are not measured keep their
// rows. It fails when anything is wrong, after it has measured everything.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

func main() {
	var o options
	flag.IntVar(&o.worlds, "worlds", 1000, "random worlds, cells B to E of the differential")
	flag.IntVar(&o.containers, "containers", 40, "random worlds with namespaces and definitions, cell F")
	flag.Uint64Var(&o.seed, "seed", 1, "the seed of the first world")
	flag.StringVar(&o.table, "table", "", "the file with what was measured")
	flag.StringVar(&o.differential, "differential", "", "more for the differential, such as -shrink 5")
	flag.Parse()
	if err := run(o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

// options are how much is compared, and where that is written.
type options struct {
	worlds, containers int
	seed               uint64
	differential       string
	table              string
}

func run(o options, binaries []string) error {
	if o.table == "" || len(binaries) == 0 {
		return errors.New("usage: go run ./matrix -table FILE BINARY…, in test/controlplane")
	}
	var failed []error
	for _, binary := range binaries {
		m, err := measure(o, binary)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", binary, err))
		}
		if m.Version == "" {
			continue // it did not even start
		}
		if err := enter(o.table, m); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}

// measure runs everything against one control plane. Beside an error, the result is what
// was seen nevertheless.
func measure(o options, binary string) (release.Measurement, error) {
	began := time.Now()
	m := release.Measurement{Day: began.UTC().Format(time.DateOnly)}
	path, err := filepath.Abs(binary)
	if err != nil {
		return m, err
	}
	if err := os.Setenv(cluster.Binary, path); err != nil {
		return m, err
	}
	if m.Version, err = version(); err != nil {
		return m, err
	}
	var noReplay, notShown, noUpstream, noWorlds error
	m.Files, noReplay = scenarioFiles()
	m.Shown, notShown = ownWays()
	m.Suite, noUpstream = upstreamSuite()
	sums, noWorlds := differences(o)
	for _, s := range sums {
		m.States += s.Worlds
		m.Objects += s.Objects
		m.Wrong += s.Wrong
	}
	m.Minutes = int(time.Since(began).Round(time.Minute).Minutes())
	return m, errors.Join(noReplay, notShown, noUpstream, noWorlds)
}

// version starts a control plane to ask it.
func version() (string, error) {
	c, err := cluster.Start()
	if err != nil {
		return "", err
	}
	name := c.Release()
	if !strings.HasPrefix(name, "v1.") {
		err = fmt.Errorf("it says that it is %q", name)
	}
	return name, errors.Join(err, c.Stop())
}

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
