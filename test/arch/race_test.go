package arch

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// concurrent reports whether the file starts a goroutine or has something that only goroutines need.
func (s source) concurrent() bool {
	if s.isTest() {
		return false
	}
	for _, p := range s.imports() {
		if p == "sync" || p == "sync/atomic" || p == "golang.org/x/sync/errgroup" {
			return true
		}
	}
	found := false
	ast.Inspect(s.file, func(n ast.Node) bool {
		_, starts := n.(*ast.GoStmt)
		found = found || starts
		return !found
	})
	return found
}

// untried reports how the packages that are tried with the race detector differ from those that start
// goroutines. A pattern that ends in /... stands for a directory and all below it.
func untried(sources []source, patterns []string) []string {
	var bad []string
	needed := map[string]bool{}
	for _, s := range sources {
		dir := s.dir()
		covers := func(pattern string) bool {
			root, below := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
			return dir == root || below && strings.HasPrefix(dir, root+"/")
		}
		if !s.concurrent() {
			continue
		}
		i := slices.IndexFunc(patterns, covers)
		if i < 0 {
			bad = append(bad, fmt.Sprintf("%s: %s is not tried with the race detector: add ./%s to RACY", s.path, path.Base(dir), dir))
			continue
		}
		needed[patterns[i]] = true
	}
	for _, p := range patterns {
		if !needed[p] {
			bad = append(bad, p+": RACY names it, and no package there starts a goroutine")
		}
	}
	return bad
}

// TestRacePackages: `make test-cluster` runs every package that starts goroutines with the race detector.
func TestRacePackages(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^RACY := ((?:.*\\\n)*.*)$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no RACY")
	}
	patterns := strings.Fields(strings.ReplaceAll(string(list[1]), "\\\n", " "))
	for _, problem := range untried(treeOf(t, append(slices.Clone(roots), "gctest")), patterns) {
		t.Error(problem)
	}
}

func TestUntried(t *testing.T) {
	for _, c := range []struct {
		text     string
		patterns []string
		want     int
	}{
		{"package a\nfunc f() { go f() }", nil, 1},
		{"package a\nimport \"sync\"\nvar w sync.WaitGroup\nfunc f() { w.Go(f) }", nil, 1},
		{"package a\nimport \"golang.org/x/sync/errgroup\"\nvar g errgroup.Group", []string{"./internal/b"}, 2},
		{"package a\nimport \"sync/atomic\"\nvar n atomic.Int64", []string{"./internal/a"}, 0},
		{"package a\nfunc f() { go f() }", []string{"./internal/..."}, 0},
		{"package a\nfunc f() {}", nil, 0},
		{"package a\nfunc f() {}", []string{"./internal/a"}, 1},
	} {
		got := untried([]source{parse(t, "internal/a/a.go", c.text)}, c.patterns)
		if len(got) != c.want {
			t.Errorf("%q with %v: %q", c.text, c.patterns, got)
		}
	}
}
