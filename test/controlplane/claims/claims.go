// Package claims compares real.txt, which says what was shown on a real control
// plane, with what the tests of the control plane show.
package claims

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// File is real.txt, as seen from a package of test/controlplane.
const File = "../real.txt"

// repository is the way to the root of the repository from such a package.
const repository = "../../.."

// Claims are the lines of real.txt that a scenario file stands for: one for every
// number after `# Covers:`.
func Claims(word, file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	path, err := filepath.Rel(repository, file)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(strings.TrimSpace(line), "# Covers:"); ok {
			lines = append(lines, entries(list, word, filepath.ToSlash(path))...)
		}
	}
	return lines, nil
}

// entries are the lines of real.txt for numbers separated by commas.
func entries(list, word, path string) []string {
	var lines []string
	for id := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(list), "."), ",") {
		lines = append(lines, strings.TrimSpace(id)+" "+word+" "+path)
	}
	return lines
}

// Disagreement says what real.txt claims with a word and was not shown (-), and
// what was shown and is not claimed (+). It is empty when both are the same.
func Disagreement(word string, shown []string) (string, error) {
	return disagreement(File, word, shown)
}

func disagreement(file, word string, shown []string) (string, error) {
	have, err := read(file, word)
	if err != nil {
		return "", err
	}
	shown = slices.Compact(slices.Sorted(slices.Values(shown)))
	var b strings.Builder
	for _, line := range have {
		if !slices.Contains(shown, line) {
			fmt.Fprintln(&b, "- "+line)
		}
	}
	for _, line := range shown {
		if !slices.Contains(have, line) {
			fmt.Fprintln(&b, "+ "+line)
		}
	}
	return b.String(), nil
}

// read returns the lines of a file that begin with a number and then the word.
func read(file, word string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 2 && words[1] == word {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// marker begins a comment of a Go test that says which behaviours it shows. It is
// not `Covers:`, which says that a behaviour is simulated.
const marker = "// Shows:"

// Check compares what real.txt says with a word with the lines `// Shows: S086,
// S133` in the test files of the package that is tested. Such a line stands above a
// test, or above a part of one, or in it.
func Check(t *testing.T, word string) {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := check(dir, word)
	if err != nil {
		t.Fatal(err)
	}
	if wrong != "" {
		t.Errorf("%s claims too much (-) or too little (+):\n%s", File, wrong)
	}
}

func check(dir, word string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return "", err
	}
	var shown []string
	for _, file := range files {
		lines, err := tested(word, file)
		if err != nil {
			return "", err
		}
		shown = append(shown, lines...)
	}
	return disagreement(filepath.Join(dir, filepath.FromSlash(File)), word, shown)
}

// tested are the lines of real.txt that a file of Go tests stands for.
func tested(word, file string) ([]string, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	name := path.Join("test/controlplane", filepath.Base(filepath.Dir(file)), filepath.Base(file))
	var lines []string
	for _, group := range f.Comments {
		for _, c := range group.List {
			list, ok := strings.CutPrefix(c.Text, marker)
			if !ok {
				continue
			}
			if !slices.ContainsFunc(f.Decls, func(d ast.Decl) bool { return runs(d, c.Pos()) }) {
				return nil, fmt.Errorf("%s: %q does not stand at a test", fset.Position(c.Pos()), c.Text)
			}
			lines = append(lines, entries(list, word, name)...)
		}
	}
	return lines, nil
}

// runs reports whether a comment stands above or in a function that takes a
// *testing.T: a test, or a part of one. What no test calls the linter finds.
func runs(d ast.Decl, at token.Pos) bool {
	fn, ok := d.(*ast.FuncDecl)
	if !ok || len(fn.Type.Params.List) == 0 {
		return false
	}
	star, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	selector, ok := star.X.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "T" {
		return false
	}
	start := fn.Pos()
	if fn.Doc != nil {
		start = fn.Doc.Pos()
	}
	return start <= at && at < fn.End()
}
