// Command matrix measures what is predicted against control planes of several releases,
// one after the other, and writes a table of it into a page:
//
//	go run ./matrix -worlds 1000 -page PAGE BINARY…
//
// For each it runs the packages replay and differential, and what package collecting has
// of the tests of Kubernetes' own collector. Releases that are not measured keep their
// rows. It fails when anything is wrong, after it has measured everything.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

func main() {
	var o options
	flag.IntVar(&o.worlds, "worlds", 1000, "random worlds, cells B to E of the differential")
	flag.IntVar(&o.containers, "containers", 40, "random worlds with namespaces and definitions, cell F")
	flag.Uint64Var(&o.seed, "seed", 1, "the seed of the first world")
	flag.StringVar(&o.page, "page", "", "the page with the table")
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
	page               string
}

func run(o options, binaries []string) error {
	if o.page == "" || len(binaries) == 0 {
		return errors.New("usage: go run ./matrix -page FILE BINARY…, in test/controlplane")
	}
	var failed []error
	for _, binary := range binaries {
		r, err := measure(o, binary)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", binary, err))
		}
		if r.release == "" {
			continue // it did not even start
		}
		if err := enter(o.page, r); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}

// result is what was seen of one release.
type result struct {
	release                string
	states, objects, wrong int
	files, upstream        outcome
	took                   time.Duration
	day                    string
}

// measure runs everything against one control plane. Beside an error, the result is what
// was seen nevertheless.
func measure(o options, binary string) (result, error) {
	began := time.Now()
	r := result{day: began.UTC().Format(time.DateOnly)}
	path, err := filepath.Abs(binary)
	if err != nil {
		return r, err
	}
	if err := os.Setenv(cluster.Binary, path); err != nil {
		return r, err
	}
	if r.release, err = release(); err != nil {
		return r, err
	}
	var noReplay, noUpstream, noWorlds error
	r.files, noReplay = scenarioFiles()
	r.upstream, noUpstream = upstreamSuite()
	sums, noWorlds := differences(o)
	for _, s := range sums {
		r.states += s.Worlds
		r.objects += s.Objects
		r.wrong += s.Wrong
	}
	r.took = time.Since(began)
	return r, errors.Join(noReplay, noUpstream, noWorlds)
}

// release starts a control plane to ask it.
func release() (string, error) {
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
