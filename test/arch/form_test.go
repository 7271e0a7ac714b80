package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

const maxLines = 500

// vague are names that say nothing about what is inside.
var vague = []string{
	"util", "utils", "common", "helper", "helpers", "manager", "managers", "types", "misc", "shared", "base",
}

// length reports files that hold more than one idea.
func length(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if s.lines > maxLines && !ast.IsGenerated(s.file) {
			bad = append(bad, fmt.Sprintf("%s: %d lines, at most %d", s.path, s.lines, maxLines))
		}
	}
	return bad
}

// naming reports packages and files with names that say nothing.
func naming(sources []source) []string {
	var bad []string
	for _, s := range sources {
		name := strings.TrimSuffix(path.Base(s.path), ".go")
		words := append(strings.Split(name, "_"), strings.Split(s.dir(), "/")...)
		for _, w := range append(words, s.file.Name.Name) {
			if slices.Contains(vague, w) {
				bad = append(bad, fmt.Sprintf("%s: %q does not say what is inside", s.path, w))
				break
			}
		}
	}
	return bad
}

// unfinished reports marks of work that was left.
func unfinished(sources []source) []string {
	var bad []string
	for _, s := range sources {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				text := strings.TrimLeft(c.Text, "/* \t")
				for _, mark := range []string{"TODO", "FIXME", "XXX", "HACK"} {
					if strings.HasPrefix(text, mark) {
						bad = append(bad, s.at(c)+": "+mark+" in a comment")
					}
				}
			}
		}
	}
	return bad
}

// packageDocs reports packages that do not say what they are for.
func packageDocs(sources []source) []string {
	var dirs []string
	documented := map[string]bool{}
	for _, s := range sources {
		if s.isTest() || !s.in("internal") && !s.in("cmd") && !s.in("hack") {
			continue
		}
		if !slices.Contains(dirs, s.dir()) {
			dirs = append(dirs, s.dir())
		}
		if s.file.Doc != nil {
			documented[s.dir()] = true
		}
	}
	var bad []string
	for _, d := range dirs {
		if !documented[d] {
			bad = append(bad, d+": no package comment")
		}
	}
	return bad
}

// docs reports exported identifiers without a comment. A comment above a group
// of constants or variables speaks for all of them.
func docs(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if s.isTest() || s.house() == "" && !s.in("cmd") {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && receiverIsExported(d) {
					bad = append(bad, s.at(d)+": "+d.Name.Name+" has no comment")
				}
			case *ast.GenDecl:
				bad = append(bad, undocumented(s, d)...)
			}
		}
	}
	return bad
}

func undocumented(s source, d *ast.GenDecl) []string {
	if d.Tok == token.IMPORT {
		return nil
	}
	var bad []string
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			alone := d.Doc != nil && len(d.Specs) == 1
			if spec.Name.IsExported() && spec.Doc == nil && !alone {
				bad = append(bad, s.at(spec)+": "+spec.Name.Name+" has no comment")
			}
		case *ast.ValueSpec:
			if d.Doc != nil || spec.Doc != nil || spec.Comment != nil {
				continue
			}
			for _, name := range spec.Names {
				if name.IsExported() {
					bad = append(bad, s.at(name)+": "+name.Name+" has no comment")
				}
			}
		}
	}
	return bad
}

// receiverIsExported is true for functions and for methods of exported types.
func receiverIsExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}
