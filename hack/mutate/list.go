package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// change breaks one function in one way.
type change struct {
	// number counts the changes of a run from 1. In a list, it is the line.
	number int
	// pkg is the directory of the package from the root of the module, function the
	// name as in Type.method.
	pkg, function string
	operation
	// rule is the rule that the change breaks according to a list, why the effect on
	// that rule.
	rule, why string
	edits     []edit
}

func (c change) String() string {
	s := fmt.Sprintf("%s.%s %s", filepath.Base(c.pkg), c.function, c.operation)
	if c.rule != "" {
		s = fmt.Sprintf("%s %s: %s", c.rule, s, c.why)
	}
	return s
}

// parseList reads a list of changes, one a line:
//
//	S076 engine.Collector.decide case 2 never: an object that is being deleted is judged
//
// Lines that begin with # are comments.
func parseList(text string) ([]change, error) {
	var list []change
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		place, why, _ := strings.Cut(line, ": ")
		words := strings.Fields(place)
		if len(words) != 5 || why == "" {
			return nil, fmt.Errorf("line %d: want RULE PACKAGE.FUNCTION KIND N CHANGE: WHY", i+1)
		}
		pkg, function, _ := strings.Cut(words[1], ".")
		n, err := strconv.Atoi(words[3])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		list = append(list, change{
			number: i + 1, pkg: "internal/" + pkg, function: function,
			operation: operation{words[2], n, words[4]}, rule: words[0], why: why,
		})
	}
	return list, nil
}

// read parses the files of a package, without its tests.
func read(pkg string) ([]source, error) {
	paths, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		return nil, err
	}
	var sources []source
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		s, err := parse(path, string(text))
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// resolve looks up the edits of each change of a list. It names all changes that
// are not in the code.
func resolve(list []change, packages map[string][]source) error {
	var wrong error
	for i := range list {
		c := &list[i]
		_, f, err := find(packages[c.pkg], c.function)
		if err == nil {
			at := slices.IndexFunc(f.mutations, func(m mutation) bool { return m.operation == c.operation })
			if at < 0 {
				err = fmt.Errorf("the function has no %s", c.operation)
			} else {
				c.edits = f.mutations[at].edits
			}
		}
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("line %d: %s: %w", c.number, c, err))
		}
	}
	return wrong
}

func find(sources []source, name string) (source, function, error) {
	for _, s := range sources {
		for _, f := range s.functions {
			if f.name == name {
				return s, f, nil
			}
		}
	}
	return source{}, function{}, errors.New("there is no such function")
}

// changesOf lists the changes by rule of a package: every operation on every
// function.
func changesOf(pkg string, sources []source) []change {
	var all []change
	for _, s := range sources {
		for _, f := range s.functions {
			for _, m := range f.mutations {
				all = append(all, change{
					number: len(all) + 1, pkg: pkg, function: f.name,
					operation: m.operation, edits: m.edits,
				})
			}
		}
	}
	return all
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
