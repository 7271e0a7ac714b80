// Command mutate changes a package in small ways, one at a time, and runs its
// tests on each change. A change that no test notices is a line that no test
// judges; it is listed. Nothing in the tree is written: the changed file is laid
// over the real one for the compiler only.
//
// Changes are made by rule, or taken from a list of picked ones, which scenario files
// judge, and the tests of the account of a run those of the account:
//
//	go run ./hack/mutate [-max n] packages...
//	go run ./hack/mutate -picked list [words...]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	limit := flag.Int("max", 0, "try at most this many changes, spread evenly; 0 for all")
	list := flag.String("picked", "", "try the changes of this list; with words, those whose file or reason contains one")
	flag.Parse()
	var err error
	if *list != "" {
		err = runPicked(*list, flag.Args())
	} else {
		err = run(flag.Args(), *limit)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// pkg is what `go list -json` says of a package.
type pkg struct {
	ImportPath, Dir      string
	GoFiles, TestGoFiles []string
	XTestGoFiles         []string
}

func run(patterns []string, limit int) error {
	pkgs, err := list(patterns)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, p := range pkgs {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			fmt.Printf("%s: no tests\n", p.ImportPath)
			continue
		}
		if out, err := exec.Command("go", "test", p.ImportPath).CombinedOutput(); err != nil {
			return fmt.Errorf("%s does not pass unchanged:\n%s", p.ImportPath, out)
		}
		if err := try(p, dir, limit); err != nil {
			return err
		}
	}
	return nil
}

func list(patterns []string) ([]pkg, error) {
	out, err := exec.Command("go", append([]string{"list", "-json"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var pkgs []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
	return pkgs, nil
}

// try runs the tests of a package on each change.
func try(p pkg, dir string, limit int) error {
	var changes []change
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := changesOf(path, text)
		if err != nil {
			return err
		}
		changes = append(changes, found...)
	}
	changes = spread(changes, limit)
	noticed := 0
	for _, c := range changes {
		ok, err := c.noticed(p.ImportPath, dir)
		if err != nil {
			return err
		}
		if ok {
			noticed++
		} else {
			fmt.Printf("%s:%d: nobody notices %s instead of %s\n", filepath.Base(c.path), c.line, c.after, c.before)
		}
	}
	fmt.Printf("%s: %d of %d changes are noticed\n", p.ImportPath, noticed, len(changes))
	return nil
}

// noticed reports whether the tests fail with the change. A change that does not
// compile, or that never ends, counts as noticed.
func (c change) noticed(importPath, dir string) (bool, error) {
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, c.text, 0o644); err != nil {
		return false, err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {c.path: changed}})
	if err != nil {
		return false, err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		return false, err
	}
	return exec.Command("go", "test", "-overlay", file, "-vet", "off", "-timeout", "60s", importPath).Run() != nil, nil
}

// spread picks at most limit of the changes, evenly.
func spread(changes []change, limit int) []change {
	if limit <= 0 || len(changes) <= limit {
		return changes
	}
	picked := make([]change, limit)
	for i := range picked {
		picked[i] = changes[i*len(changes)/limit]
	}
	return picked
}
