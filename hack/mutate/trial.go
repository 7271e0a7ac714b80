package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// judge is a package with tests that may notice a change, and the names of these tests.
type judge struct{ pkg, tests string }

// judgesOf are the judges of a change in a package, the nearest first. Only
// scenario files judge the garbage collector and the API server; any other
// package is judged by all of its own tests.
func judgesOf(pkg string) []judge {
	const scenarios = "^TestScenarios$"
	engine := []judge{{"internal/engine", scenarios}, {"internal/apisim/controllers", scenarios}}
	switch pkg {
	case "internal/engine":
		return engine
	case "internal/apisim":
		return append([]judge{{pkg, scenarios}}, engine...)
	}
	return []judge{{pkg, "."}}
}

// tooLong ends tests that a change keeps from ending. That counts as noticed.
const tooLong = "60s"

// trial is a set of changes and the test binaries that contain all of them.
type trial struct {
	changes  []change
	packages map[string][]source
	dir      string
}

// judges are those of all changes, each once.
func (t *trial) judges() []judge {
	var all []judge
	for _, c := range t.changes {
		for _, j := range judgesOf(c.pkg) {
			if !slices.Contains(all, j) {
				all = append(all, j)
			}
		}
	}
	return all
}

// compile makes one binary for each package that judges. It drops the changes
// that do not compile and returns how many these are.
func (t *trial) compile() (int, error) {
	dropped := 0
	for {
		overlay, err := t.overlay()
		if err != nil {
			return 0, err
		}
		wrong, err := t.build(overlay)
		if err != nil {
			return 0, err
		}
		if len(wrong) == 0 {
			return dropped, t.link(overlay)
		}
		dropped += len(wrong)
		t.changes = slices.DeleteFunc(t.changes, func(c change) bool { return wrong[c.number] })
	}
}

var changeInError = regexp.MustCompile(`change(\d+):\d`)

// build compiles the changed packages. It returns the changes that do not compile.
func (t *trial) build(overlay string) (map[int]bool, error) {
	args := []string{"build", "-gcflags=-e", "-overlay", overlay}
	for pkg := range t.packages {
		args = append(args, "./"+pkg)
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	if err == nil {
		return nil, nil
	}
	wrong := map[int]bool{}
	for _, m := range changeInError.FindAllStringSubmatch(string(out), -1) {
		n, _ := strconv.Atoi(m[1])
		wrong[n] = true
	}
	if len(wrong) == 0 {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return wrong, nil
}

func (t *trial) link(overlay string) error {
	for _, j := range t.judges() {
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", t.binary(j.pkg), "./"+j.pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s does not compile:\n%s", j.pkg, out)
		}
	}
	return nil
}

func (t *trial) binary(pkg string) string { return filepath.Join(t.dir, filepath.Base(pkg)+".test") }

// overlay writes the woven files, and the file that tells the compiler to read
// them instead of the real ones.
func (t *trial) overlay() (string, error) {
	replace := map[string]string{}
	lay := func(file, text string) error {
		path, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		replace[path] = filepath.Join(t.dir, strings.ReplaceAll(file, "/", "_"))
		return os.WriteFile(replace[path], []byte(text), 0o644)
	}
	for pkg, sources := range t.packages {
		var here []change
		for _, c := range t.changes {
			if c.pkg == pkg {
				here = append(here, c)
			}
		}
		if len(here) == 0 {
			continue
		}
		if err := lay(pkg+"/chosen_mutant.go", fmt.Sprintf(chooser, sources[0].pkg, chosen)); err != nil {
			return "", err
		}
		for _, s := range sources {
			if err := lay(s.path, s.weave(here)); err != nil {
				return "", err
			}
		}
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(t.dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o644)
}

// unchanged makes sure that a failure is caused by a change.
func (t *trial) unchanged(when string) error {
	if by := t.try(0, t.judges()); by != "" {
		return fmt.Errorf("%s, with nothing changed, %s fails", when, by)
	}
	return nil
}

// try returns the scenario file or test that notices a change, or "".
func (t *trial) try(number int, judges []judge) string {
	for _, j := range judges {
		if by := t.ask(j, number); by != "" {
			return by
		}
	}
	return ""
}

// ask runs the tests of a judge in the directory of its package. It returns the
// first one that fails, or "".
func (t *trial) ask(j judge, number int) string {
	cmd := exec.Command(t.binary(j.pkg), "-test.run", j.tests, "-test.timeout", tooLong)
	cmd.Dir = j.pkg
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", chosen, number))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return filepath.Base(j.pkg) + "/" + failed(string(out))
}

var (
	failedTest  = regexp.MustCompile(`(?m)^--- FAIL: (Test[^/\s]+)`)
	failedFile  = regexp.MustCompile(`--- FAIL: TestScenarios/(\S+)`)
	runningTest = regexp.MustCompile(`(?m)^\s+(Test\S+) \(`)
)

// failed is the first scenario file or test that fails, according to the output
// of the tests, and how many more scenario files do.
func failed(out string) string {
	all := failedFile.FindAllStringSubmatch(out, -1)
	switch {
	case len(all) == 1:
		return all[0][1]
	case len(all) > 1:
		return fmt.Sprintf("%s and %d more", all[0][1], len(all)-1)
	}
	if m := failedTest.FindStringSubmatch(out); m != nil {
		return m[1]
	}
	if all := runningTest.FindAllStringSubmatch(out, -1); len(all) > 0 {
		return all[len(all)-1][1] + ", which does not end"
	}
	return "a crash"
}
