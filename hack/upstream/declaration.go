package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// declaration is something that a file declares: its name, with its type if it is a
// method, and its text without the comment above it.
type declaration struct{ name, text string }

// find is what the files of a marker declare under a name, by file.
func (r release) find(file, name string) (map[string][]declaration, error) {
	module, pattern := locate(file)
	files, err := fs.Glob(r[module], pattern)
	if err != nil {
		return nil, err
	}
	found := map[string][]declaration{}
	for _, inside := range files {
		text, err := fs.ReadFile(r[module], inside)
		if err != nil {
			return nil, err
		}
		list, err := declarations(inside, text, name)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			found[full(module, inside)] = list
		}
	}
	return found, nil
}

// search is where else something is declared under a name that is complete: in other files
// of its package or, if it is in none of them, anywhere.
func (r release) search(file, name string) ([]string, error) {
	var beside, anywhere []string
	word := []byte(unqualified(name))
	for module, tree := range r {
		err := fs.WalkDir(tree, ".", func(inside string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if err != nil || d.IsDir() || path.Ext(inside) != ".go" || strings.HasSuffix(inside, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(tree, inside)
			if err != nil || !bytes.Contains(text, word) {
				return err
			}
			list, err := declarations(inside, text, name)
			if slices.ContainsFunc(list, func(d declaration) bool { return d.name == name }) {
				there := full(module, inside)
				anywhere = append(anywhere, there)
				if path.Dir(there) == path.Dir(file) {
					beside = append(beside, there)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(beside) > 0 {
		return beside, nil
	}
	return anywhere, nil
}

// declarations is what a text declares under a name. A method that is named without its
// type may be there several times.
func declarations(file string, text []byte, name string) ([]declaration, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var list []declaration
	add := func(qualified, keyword string, n ast.Node) {
		if name != qualified && name != unqualified(qualified) {
			return
		}
		part := keyword + string(text[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
		if formatted, err := format.Source([]byte(part)); err == nil {
			part = string(formatted)
		}
		list = append(list, declaration{qualified, part + "\n"})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(receiver(d)+d.Name.Name, "", d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name.Name, d.Tok.String()+" ", spec)
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						add(n.Name, d.Tok.String()+" ", spec)
					}
				}
			}
		}
	}
	return list, nil
}

// unqualified is a name without the type of its method.
func unqualified(name string) string { return name[strings.LastIndex(name, ".")+1:] }

// receiver is the type of a method and a dot; empty for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
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
			return x.Name + "."
		default:
			return ""
		}
	}
}

// marker names what is reproduced where it stands.
type marker struct {
	// at is our file and line.
	at string
	// file is a file of Kubernetes, or a pattern of files.
	file string
	// names are what that declares: functions, methods with or without their type,
	// types, constants and variables.
	names []string
}

const sign = "Upstream:"

// form is what follows the sign: a file, names, and a full stop or a remark.
var form = regexp.MustCompile(`^ (\S+\.go) (\w+(?:\.\w+)?(?:, \w+(?:\.\w+)?)*)(?:\.|:.*)$`)

// scan finds the markers of a tree, in the order of its paths. An invalid marker is an error: its
// function would not be compared.
func scan(tree fs.FS) ([]marker, error) {
	var markers []marker
	var errs []error
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := path.Base(name); name != "." && (strings.HasPrefix(base, ".") || base == "node_modules" || name == "bin" || name == "dist") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil || !bytes.Contains(text, []byte(sign)) {
			return err
		}
		found, err := markersIn(name, text)
		markers = append(markers, found...)
		errs = append(errs, err)
		return nil
	})
	return markers, errors.Join(append(errs, err)...)
}

func markersIn(name string, text []byte) ([]marker, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var markers []marker
	var errs []error
	for _, group := range f.Comments {
		for i, c := range group.List {
			// A tab begins an example.
			if !strings.Contains(c.Text, sign) || strings.HasPrefix(c.Text, "//\t") {
				continue
			}
			at := fmt.Sprintf("%s:%d", name, fset.Position(c.Pos()).Line)
			m := form.FindStringSubmatch(strings.TrimPrefix(unwrapped(group.List[i:]), "// "+sign))
			if m == nil || !strings.HasPrefix(c.Text, "// "+sign) {
				errs = append(errs, fmt.Errorf("%s: %q is not `%s file.go Function, Type.Method.`", at, c.Text, sign))
				continue
			}
			markers = append(markers, marker{at: at, file: m[1], names: strings.Split(m[2], ", ")})
		}
	}
	return markers, errors.Join(errs...)
}

// unwrapped returns the first line of a comment, with the next line if it ends with a comma.
func unwrapped(lines []*ast.Comment) string {
	text := lines[0].Text
	for _, next := range lines[1:] {
		if !strings.HasSuffix(text, ",") {
			break
		}
		text += strings.TrimPrefix(next.Text, "//")
	}
	return text
}
