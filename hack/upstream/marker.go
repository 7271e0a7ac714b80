package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

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

// scan finds the markers of a tree, in the order of its paths. What looks like a marker
// and is none would be a function that nobody compares: it is an error.
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

// unwrapped is the first line of a comment. It goes on in the next one where it ends
// with a comma.
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
