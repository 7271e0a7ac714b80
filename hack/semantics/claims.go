package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// claim says that a test or a scenario file covers one behaviour.
type claim struct {
	id   string
	file string
	line int
	// test is the Go function; empty for a scenario file.
	test string
}

const marker = "Covers:"

// collect finds the claims of a tree, in the order of its paths.
func collect(tree fs.FS) ([]claim, error) {
	var claims []claim
	var errs []error
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := path.Base(name); name != "." && (strings.HasPrefix(base, ".") || name == "bin" || name == "dist") {
				return fs.SkipDir
			}
			return nil
		}
		read := reader(name)
		if read == nil {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		found, err := read(name, text)
		claims = append(claims, found...)
		errs = append(errs, err)
		return nil
	})
	return claims, errors.Join(append(errs, err)...)
}

// reader chooses how to read a file; nil for files that make no claims.
func reader(name string) func(string, []byte) ([]claim, error) {
	switch inTestdata := slices.Contains(strings.Split(path.Dir(name), "/"), "testdata"); {
	case strings.HasSuffix(name, "_test.go"):
		return goClaims
	case path.Ext(name) == ".txtar", path.Ext(name) == ".txt" && inTestdata:
		return textClaims
	default:
		return nil
	}
}

// textClaims reads the `# Covers: S001, S002` lines of a scenario file.
func textClaims(file string, text []byte) ([]claim, error) {
	var claims []claim
	var errs []error
	for i, line := range strings.Split(string(text), "\n") {
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !ok {
			continue
		}
		found, err := parseClaim(comment, claim{file: file, line: i + 1})
		claims = append(claims, found...)
		errs = append(errs, err)
	}
	return claims, errors.Join(errs...)
}

// goClaims reads the `// Covers: S087` lines above test functions and inside of
// them. Such a line anywhere else claims nothing that runs, and is an error.
func goClaims(file string, text []byte) ([]claim, error) {
	if !strings.Contains(string(text), marker) {
		return nil, nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var claims []claim
	var errs []error
	for _, group := range f.Comments {
		for _, c := range group.List {
			comment, ok := strings.CutPrefix(c.Text, "//")
			if !ok {
				continue
			}
			at := claim{file: file, line: fset.Position(c.Pos()).Line, test: testAt(f, c.Pos())}
			found, err := parseClaim(comment, at)
			if len(found) > 0 && at.test == "" {
				err = fmt.Errorf("%s:%d: %s does not stand at a test function", file, at.line, marker)
			}
			claims = append(claims, found...)
			errs = append(errs, err)
		}
	}
	return claims, errors.Join(errs...)
}

// testAt returns the name of the test function at pos, its comment included.
func testAt(f *ast.File, pos token.Pos) string {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") && !strings.HasPrefix(fn.Name.Name, "Fuzz") {
			continue
		}
		start := fn.Pos()
		if fn.Doc != nil {
			start = fn.Doc.Pos()
		}
		if start <= pos && pos < fn.End() {
			return fn.Name.Name
		}
	}
	return ""
}

// parseClaim reads one comment: the marker, then numbers separated by commas. Anything else is an
// error, because an ignored number would be a hidden gap.
func parseClaim(comment string, at claim) ([]claim, error) {
	list, ok := strings.CutPrefix(strings.TrimSpace(comment), marker)
	if !ok {
		return nil, nil
	}
	var claims []claim
	for word := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(list), "."), ",") {
		at.id = strings.TrimSpace(word)
		if !isNumber(at.id) {
			return nil, fmt.Errorf("%s:%d: %q is not a number such as S001", at.file, at.line, at.id)
		}
		claims = append(claims, at)
	}
	return claims, nil
}

// shownFile is the file that says which behaviours were shown on a real control plane,
// and why the others were not. The tests of the control plane hold it to what they
// really run.
const shownFile = "test/controlplane/real.txt"

// shown is what real.txt says of one behaviour.
type shown struct {
	by  []showing
	why string // there is nothing to show; empty when something was shown
}

// showing is a file that ran on a real control plane.
type showing struct{ how, file string }

// parseLedger reads lines of the form `S001 replay FILE` and `S065 not: REASON`.
// Every behaviour of the table has one or the other.
func parseLedger(text string, table []behaviour) (map[string]shown, error) {
	truth := map[string]shown{}
	var errs []error
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, rest, _ := strings.Cut(line, " ")
		how, what, _ := strings.Cut(rest, " ")
		s := truth[id]
		switch {
		case !isNumber(id) || what == "":
			errs = append(errs, fmt.Errorf("%s:%d: want a number, how it was shown, and a file; or a number, `not:` and why", shownFile, i+1))
			continue
		case how == "not:":
			s.why = what
		default:
			s.by = append(s.by, showing{how, what})
		}
		if s.why != "" && len(s.by) > 0 {
			errs = append(errs, fmt.Errorf("%s:%d: %s was shown and was not", shownFile, i+1, id))
		}
		truth[id] = s
	}
	for id := range truth {
		if !slices.ContainsFunc(table, func(r behaviour) bool { return r.id == id }) {
			errs = append(errs, fmt.Errorf("%s: %s is not in scenarios.tsv", shownFile, id))
		}
	}
	for _, row := range table {
		if _, ok := truth[row.id]; !ok {
			errs = append(errs, fmt.Errorf("%s: nothing is said of %s", shownFile, row.id))
		}
	}
	return truth, errors.Join(errs...)
}
