package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/differential"
)

// outcome is how many tests have passed, of those that were begun.
type outcome = [2]int

// scenarioFiles replays them. Every file is a test.
func scenarioFiles() (outcome, error) {
	return tests(func(name string) bool { return strings.HasSuffix(name, ".txt") }, "./replay")
}

// ownWays runs the tests that hold on every release and say what its own does.
func ownWays() (outcome, error) {
	top := func(name string) bool { return strings.HasPrefix(name, "TestRelease") }
	o, err := tests(top, "-run", "^TestRelease", "./realcluster")
	adopted := func(name string) bool { return strings.HasSuffix(name, "/adopted_in_between") }
	more, otherwise := tests(adopted, "-run", "^TestRequests$/^adopted_in_between$", "./interpose")
	return outcome{o[0] + more[0], o[1] + more[1]}, errors.Join(err, otherwise)
}

// upstreamSuite runs the tests that bear the names of upstream's.
func upstreamSuite() (outcome, error) {
	names, err := upstreamTests()
	if err != nil {
		return outcome{}, err
	}
	o, err := tests(func(name string) bool { return !strings.Contains(name, "/") },
		"-run", "^("+strings.Join(names, "|")+")$", "./collecting")
	o[1] = len(names)
	return o, err
}

// upstreamTests are the tests in the files of package collecting that say so in their
// names.
func upstreamTests() ([]string, error) {
	files, err := filepath.Glob("collecting/upstream*_test.go")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && strings.HasPrefix(d.Name.Name, "Test") {
				names = append(names, d.Name.Name)
			}
		}
	}
	return names, nil
}

// differences runs the differential: random worlds, and those of the scenario files.
func differences(o options) ([]differential.Totals, error) {
	dir, err := os.MkdirTemp("", "matrix-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "totals.json")
	args := []string{"./differential", "-args", "-totals", file, "-worlds", strconv.Itoa(o.worlds), "-seed", strconv.FormatUint(o.seed, 10),
		"-containers", strconv.Itoa(o.containers), "-containers-phases", "3"}
	_, failed := tests(func(string) bool { return true }, append(args, strings.Fields(o.differential)...)...)
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	var sums []differential.Totals
	if err := json.Unmarshal(text, &sums); err != nil {
		return nil, err
	}
	return sums, failed
}

// tests runs a package and counts those of its tests that count. What it printed goes to
// the standard output, with the tests that failed in the error.
func tests(counts func(name string) bool, args ...string) (o outcome, err error) {
	cmd := exec.Command("go", append([]string{"test", "-json", "-count=1", "-timeout", "4h"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return o, err
	}
	if err := cmd.Start(); err != nil {
		return o, err
	}
	var failed []string
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e struct{ Action, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			_, _ = os.Stdout.Write(append(lines.Bytes(), '\n')) // what a build says
			continue
		}
		_, _ = os.Stdout.WriteString(e.Output)
		if e.Test == "" || !counts(e.Test) {
			continue
		}
		switch e.Action {
		case "run":
			o[1]++
		case "pass":
			o[0]++
		case "fail":
			failed = append(failed, e.Test)
		}
	}
	if err := lines.Err(); err != nil {
		return o, err
	}
	if err := cmd.Wait(); err != nil {
		return o, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.Join(failed, ", "))
	}
	return o, nil
}
