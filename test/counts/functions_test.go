package counts

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sources finds the functions that blocks are in.
type sources map[string][]function

type function struct {
	name        string
	first, last int
}

// function is the one that a block is in, as `internal/plan Seed.targeted`, and the line
// where it begins, as `internal/plan/explore.go:68`.
func (s sources) function(t *testing.T, block string) (name, line string) {
	t.Helper()
	file, rest, _ := strings.Cut(block, ":")
	start, _, _ := strings.Cut(rest, ".")
	number, err := strconv.Atoi(start)
	if err != nil {
		t.Fatalf("block %q: %v", block, err)
	}
	if _, read := s[file]; !read {
		s[file] = functionsOf(t, file)
	}
	short := strings.TrimPrefix(file, module)
	for _, f := range s[file] {
		if f.first <= number && number <= f.last {
			name = path.Dir(short) + " " + f.name
		}
	}
	return name, fmt.Sprintf("%s:%d", short, number)
}

func functionsOf(t *testing.T, file string) []function {
	t.Helper()
	at := filepath.Join(goroot, "src", file)
	if ours, ok := strings.CutPrefix(file, module); ok {
		at = filepath.Join("..", "..", ours)
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, at, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var list []function
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			name = receiver(f.Recv.List[0].Type) + "." + name
		}
		list = append(list, function{name, files.Position(f.Pos()).Line, files.Position(f.End()).Line})
	}
	return list
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}
