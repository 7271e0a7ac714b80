// Command mutate breaks functions in small ways, one at a time, and runs tests on
// each change. A change that no test notices is a line that no test judges; it is
// listed. Nothing in the tree is written: the changed files are laid over the real
// ones for the compiler only.
//
// Changes are taken from a list, and scenario files have to notice each one; or all
// possible changes in some packages are tried:
//
//	go run ./hack/mutate -list hack/mutate/list.txt [words...]
//	go run ./hack/mutate [-max n] packages...
//
// With -show, it says what can be written into a list about one function:
//
//	go run ./hack/mutate -show engine.Collector.decide
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

func main() {
	limit := flag.Int("max", 0, "try at most this many changes of each package, spread evenly; 0 for all")
	path := flag.String("list", "", "try the changes of this list; with words, only lines that contain one of them")
	name := flag.String("show", "", "list the changes of this function, with their places")
	flag.Parse()
	var err error
	switch {
	case *name != "":
		err = show(*name)
	case *path != "":
		err = runList(*path, flag.Args())
	default:
		err = runPackages(flag.Args(), *limit)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func runList(path string, words []string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	list, err := parseList(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	list = slices.DeleteFunc(list, func(c change) bool {
		return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(c.String(), w) })
	})
	packages := map[string][]source{}
	for _, c := range list {
		if packages[c.pkg] == nil {
			if packages[c.pkg], err = read(c.pkg); err != nil {
				return err
			}
		}
	}
	if err := resolve(list, packages); err != nil {
		return fmt.Errorf("%s does not fit the code:\n%w", path, err)
	}
	survivors, dropped, err := run(list, packages)
	if err != nil {
		return err
	}
	if survivors+dropped > 0 {
		return fmt.Errorf("no test notices %d changes, and %d do not compile", survivors, dropped)
	}
	return nil
}

// show prints the changes of a function, each with the text where it is counted.
func show(name string) error {
	pkg, function, _ := strings.Cut(name, ".")
	sources, err := read("internal/" + pkg)
	if err != nil {
		return err
	}
	s, f, err := find(sources, function)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, m := range f.mutations {
		line, _, _ := strings.Cut(s.text[m.at:], "\n")
		fmt.Printf("%s:%d: %-16s %s\n", s.path, 1+strings.Count(s.text[:m.at], "\n"), m.operation, line)
	}
	return nil
}

// runPackages tries the changes by rule of the packages that have tests. Patterns
// are those of go list.
func runPackages(patterns []string, limit int) error {
	out, err := exec.Command("go", append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}"}, patterns...)...).Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, dir := range strings.Fields(string(out)) {
		pkg := strings.TrimPrefix(dir, root+"/")
		sources, err := read(pkg)
		if err != nil {
			return err
		}
		if _, _, err := run(spread(changesOf(pkg, sources), limit), map[string][]source{pkg: sources}); err != nil {
			return err
		}
	}
	return nil
}

// run tries changes one after the other. It returns how many survive and how many
// do not compile.
func run(changes []change, packages map[string][]source) (survivors, dropped int, err error) {
	start := time.Now()
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	t := trial{changes: changes, packages: packages, dir: dir}
	if dropped, err = t.compile(); err != nil {
		return 0, 0, err
	}
	if err := t.unchanged("before the first change"); err != nil {
		return 0, 0, err
	}
	for _, c := range t.changes {
		by := t.try(c.number, judgesOf(c.pkg))
		verdict := "killed by " + by
		if by == "" {
			survivors++
			verdict = "SURVIVED"
		}
		fmt.Printf("%s: %s\n", c, verdict)
	}
	// Scenario files are read at every run: one that is broken meanwhile would kill
	// every change.
	if err := t.unchanged("after the last change"); err != nil {
		return 0, 0, err
	}
	tried := len(t.changes)
	fmt.Printf("%d mutants, %d killed, %d more do not compile, in %s\n",
		tried, tried-survivors, dropped, time.Since(start).Round(time.Second))
	return survivors, dropped, nil
}
