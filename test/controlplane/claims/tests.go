package claims

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
