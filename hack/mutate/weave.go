package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// chosen is the environment variable that says which change holds, as its number
// counted from 1.
const chosen = "MUTANT"

// chooser declares the variable that woven functions look at.
const chooser = `package %s

import (
	"os"
	"strconv"
)

var chosenMutant, _ = strconv.Atoi(os.Getenv("%s"))
`

// source is one file, the name of its package, and its functions.
type source struct {
	path, pkg, text string
	functions       []function
}

// function is one function and the operations on it.
type function struct {
	// name is Type.method, or the name of a function without a receiver.
	name string
	// start and end are the offsets of the body, without its braces. line is the
	// line of the opening one.
	start, end, line int
	returns          bool
	mutations        []mutation
}

// parse finds the functions of a file.
func parse(path, text string) (source, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	s := source{path: path, pkg: parsed.Name.Name, text: text}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		start := fset.Position(f.Body.Lbrace)
		s.functions = append(s.functions, function{
			name:  nameOf(f),
			start: start.Offset + 1, end: fset.Position(f.Body.Rbrace).Offset, line: start.Line,
			returns:   f.Type.Results != nil,
			mutations: mutationsOf(fset, f),
		})
	}
	return s, nil
}

func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	typ := f.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// mutated is the body of the function with the edits applied.
func (s source) mutated(f function, edits []edit) string {
	var b strings.Builder
	done := f.start
	for _, e := range edits {
		b.WriteString(s.text[done:e.from])
		b.WriteString(e.text)
		done = e.to
	}
	b.WriteString(s.text[done:f.end])
	return b.String()
}

// weave puts changes of one file into it at once: a function begins with one
// copy of its body for each of its changes, and the chosen one is run instead of
// the body. One compiler run then serves all changes. To the compiler, the copy of
// change 7 is a file change7, so its errors say which change they are about.
func (s source) weave(changes []change) string {
	var woven strings.Builder
	done := 0
	for _, f := range s.functions {
		var copies bytes.Buffer
		for _, c := range changes {
			if c.function != f.name {
				continue
			}
			fmt.Fprintf(&copies, "\nif chosenMutant == %d {\n//line change%d:1\n%s\n", c.number, c.number, s.mutated(f, c.edits))
			if !f.returns {
				copies.WriteString("return\n")
			}
			copies.WriteString("}")
		}
		if copies.Len() == 0 {
			continue
		}
		woven.WriteString(s.text[done:f.start])
		woven.Write(copies.Bytes())
		fmt.Fprintf(&woven, "\n//line %s:%d\n", filepath.Base(s.path), f.line)
		done = f.start
	}
	return woven.String() + s.text[done:]
}
