package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// judge is a package whose tests may notice a change, and which of them.
type judge struct {
	pkg string
	// tests is the expression that chooses them.
	tests string
}

const scenarioTests = "^TestScenarios$"

var (
	engineStories = judge{"internal/engine", scenarioTests}
	neighbours    = judge{"internal/apisim/controllers", scenarioTests}
	account       = judge{"internal/plan", "^(TestAccount|TestDigest.*)$"}
	bounds        = judge{"internal/policy", "^(TestLimits|TestScreen)$"}
	writing       = judge{"internal/apply", "^(TestSubjects|TestExpectations|TestCompare)$"}
)

// judges are those that may notice a change, the nearest to its folder first: of the
// collector and the server scenario files alone, of the account of a run its tests.
var judges = map[string][]judge{
	"internal/engine": {engineStories, neighbours},
	"internal/apisim": {{"internal/apisim", scenarioTests}, engineStories, neighbours},
	"internal/plan":   {account},
	"internal/impact": {account},
	"internal/policy": {bounds},
	"internal/apply":  {writing},
}

// tooLong ends a change that never ends, which counts as noticed: all scenarios
// of a package take less than a second.
const tooLong = "60s"

// runPicked tries the changes of a list, one after the other, on the scenario
// files only. With words it tries those whose file or reason contains one.
func runPicked(path string, words []string) error {
	start := time.Now()
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	list, err := parsePicked(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	list = slices.DeleteFunc(list, func(p picked) bool { return !p.concerns(words) })
	t := trial{list: list, path: path, dir: dir}
	if err := t.compile(); err != nil {
		return err
	}
	if err := t.unchanged("before the first change"); err != nil {
		return err
	}
	tried, survivors := 0, 0
	for i, p := range list {
		tried++
		by, err := t.try(i+1, judges[filepath.Dir(p.file)])
		if err != nil {
			return fmt.Errorf("%s:%d: %s: %w", path, p.at, p.why, err)
		}
		verdict := "killed by " + by
		if by == "" {
			survivors++
			verdict = "SURVIVED"
		}
		fmt.Printf("%s:%d: %s: %s: %s\n", path, p.at, filepath.Base(p.file), p.why, verdict)
	}
	// Scenario files are read at every run: one that somebody breaks meanwhile
	// would kill everything.
	if err := t.unchanged("after the last change"); err != nil {
		return err
	}
	fmt.Printf("%d mutants, %d killed, in %s\n", tried, tried-survivors, time.Since(start).Round(time.Second))
	if survivors > 0 {
		return fmt.Errorf("no test notices %d changes", survivors)
	}
	return nil
}

func (p picked) concerns(words []string) bool {
	for _, word := range words {
		if strings.Contains(p.file, word) || strings.Contains(p.why, word) {
			return true
		}
	}
	return len(words) == 0
}

// trial is a list of changes and test binaries that contain all of them.
type trial struct {
	list      []picked
	path, dir string
}

// judges are those of all changes of the list, each once.
func (t trial) judges() []judge {
	var all []judge
	for _, p := range t.list {
		for _, j := range judges[filepath.Dir(p.file)] {
			if !slices.Contains(all, j) {
				all = append(all, j)
			}
		}
	}
	return all
}

// compile makes one binary for each package that judges. What does not
// compile says nothing about any test, so it is an error.
func (t trial) compile() error {
	replace, err := t.woven()
	if err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return err
	}
	file := filepath.Join(t.dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		return err
	}
	for _, j := range t.judges() {
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", file, "-o", t.binary(j.pkg), "./"+j.pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s does not compile:\n%s", j.pkg, out)
		}
	}
	return nil
}

func (t trial) binary(pkg string) string { return filepath.Join(t.dir, filepath.Base(pkg)+".test") }

// woven writes the files to be laid over the real ones and says over which. All
// places of the list that are out of date are named at once.
func (t trial) woven() (map[string]string, error) {
	byFile := map[string][]int{}
	var files []string
	for i, p := range t.list {
		if byFile[p.file] == nil {
			files = append(files, p.file)
		}
		byFile[p.file] = append(byFile[p.file], i)
	}
	replace := map[string]string{}
	lay := func(file, text string) error {
		path, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		replace[path] = filepath.Join(t.dir, strings.ReplaceAll(file, "/", "_"))
		return os.WriteFile(replace[path], []byte(text), 0o644)
	}
	var wrong error
	for _, file := range files {
		pkg := filepath.Dir(file)
		if judges[pkg] == nil {
			return nil, fmt.Errorf("%s: no tests judge %s", t.path, file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var list []picked
		var numbers []int
		for _, i := range byFile[file] {
			list, numbers = append(list, t.list[i]), append(numbers, i+1)
		}
		changed, err := weave(list, numbers, file, string(text), t.path)
		wrong = errors.Join(wrong, err)
		if err := lay(file, changed); err != nil {
			return nil, err
		}
		if err := lay(pkg+"/chosen_mutant.go", fmt.Sprintf(chooser, filepath.Base(pkg), chosen)); err != nil {
			return nil, err
		}
	}
	if wrong != nil {
		return nil, fmt.Errorf("%s does not fit the code:\n%w", t.path, wrong)
	}
	return replace, nil
}

// unchanged makes sure that a failure will be the change's.
func (t trial) unchanged(when string) error {
	by, err := t.try(0, t.judges())
	if err == nil && by != "" {
		err = fmt.Errorf("%s, nothing being changed, %s fails", when, by)
	}
	return err
}

// try names the scenario file or test that notices a change; empty if none does.
func (t trial) try(number int, by []judge) (string, error) {
	for _, j := range by {
		by, err := t.ask(j, number)
		if by != "" || err != nil {
			return by, err
		}
	}
	return "", nil
}

// ask runs the tests of a judge in the directory of the package. It names the first
// one that fails.
func (t trial) ask(j judge, number int) (string, error) {
	cmd := exec.Command(t.binary(j.pkg), "-test.run", j.tests, "-test.timeout", tooLong)
	cmd.Dir = j.pkg
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", chosen, number))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return "", nil
	}
	by := failed(string(out))
	if by == "" {
		return "", fmt.Errorf("%s fails, but in no test:\n%s", j.pkg, out)
	}
	return filepath.Base(j.pkg) + "/" + by, nil
}

var (
	failedTest  = regexp.MustCompile(`(?m)^--- FAIL: (Test[^/\s]+)`)
	failedFile  = regexp.MustCompile(`--- FAIL: TestScenarios/(\S+)`)
	runningFile = regexp.MustCompile(`(?m)^\s+TestScenarios/(\S+)`)
)

// failed is the first scenario file that fails, according to the output of its
// test, and how many more do.
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
	if m := runningFile.FindStringSubmatch(out); m != nil {
		return m[1] + ", which does not end"
	}
	return ""
}
