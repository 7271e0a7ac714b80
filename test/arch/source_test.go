// Package arch holds the rules of the house that a compiler does not know: who
// may import whom, which packages are pure, and how files look. They are tests,
// so they also hold where no linter is installed.
//
// Every rule carries a source that breaks it and one that does not, and both
// are tried: a rule that cannot fail would protect nothing.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/kubectl-gc/kubectl-gc/"

// source is one Go file.
type source struct {
	// path is relative to the root of the repository, with slashes.
	path  string
	text  string
	lines int
	file  *ast.File
	fset  *token.FileSet
}

// roots are the directories whose Go files are judged.
var roots = []string{"cmd", "internal", "gctest", "test", "hack"}

// tree parses the Go files of the repository. Modules other than that of the program, which pin
// what it must not depend on, and packages that only hold go.mod
// together while others are being written are no part of it.
func tree(t *testing.T) []source {
	t.Helper()
	return treeOf(t, roots)
}

func treeOf(t *testing.T, roots []string) []source {
	t.Helper()
	root := os.DirFS("../..")
	var sources []source
	for _, dir := range roots {
		if _, err := fs.Stat(root, dir); err != nil {
			continue
		}
		err := fs.WalkDir(root, dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				_, nested := fs.Stat(root, name+"/go.mod")
				if name == "cmd/kubectl-gc" {
					nested = fs.ErrNotExist // the module of the program
				}
				if path.Base(name) == "testdata" || path.Base(name) == "zzdeps" || nested == nil {
					return fs.SkipDir
				}
				return nil
			}
			if path.Ext(name) != ".go" {
				return nil
			}
			text, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			sources = append(sources, parse(t, name, string(text)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return sources
}

func parse(t *testing.T, name, text string) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{path: name, text: text, lines: strings.Count(text, "\n"), file: file, fset: fset}
}

// dir is the directory of the file: "internal/engine".
func (s source) dir() string { return path.Dir(s.path) }

// in reports whether the file is in the directory or below it.
func (s source) in(dir string) bool { return strings.HasPrefix(s.path, dir+"/") }

// house is the internal package that the file belongs to, such as "engine" or
// "snapshot/etcd"; empty outside of internal.
func (s source) house() string {
	rest, ok := strings.CutPrefix(s.dir(), "internal/")
	if !ok {
		return ""
	}
	return room(rest)
}

// room is the row of the import table that a folder of internal belongs to: its own, or
// that of the nearest folder above which has one.
func room(dir string) string {
	for at := dir; at != "."; at = path.Dir(at) {
		if _, ok := mayImport[at]; ok {
			return at
		}
	}
	return dir
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// at is the place of a node as an editor understands it.
func (s source) at(n ast.Node) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(n.Pos()).Line)
}

// imports are the paths that the file imports.
func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// names maps the names by which the file knows its imports to their paths.
func (s source) names() map[string]string {
	names := map[string]string{}
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if name == "v2" {
			name = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

// uses calls yield for each identifier that the file takes from the package.
func (s source) uses(pkg string, yield func(name string, at ast.Node)) {
	names := s.names()
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && names[x.Name] == pkg {
			yield(sel.Sel.Name, sel)
		}
		return true
	})
}
