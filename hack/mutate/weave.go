package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// chosen is the environment variable that says which change holds, as its number
// in the list, counted from 1.
const chosen = "MUTANT"

// chooser declares the variable that woven functions look at.
const chooser = `package %s

import (
	"os"
	"strconv"
)

var chosenMutant, _ = strconv.Atoi(os.Getenv("%s"))
`

// weave puts all changes of one file into it at once: a function begins with
// one copy of its body for each of its changes, and the chosen one is run
// instead of the body. One compiler run then serves all changes. The compiler is
// told that the copies stand in the list.
func weave(list []picked, numbers []int, file, text, listPath string) (string, error) {
	original, err := functionsOf(file, text)
	if err != nil {
		return "", err
	}
	copies := make([]bytes.Buffer, len(original))
	var wrong error
	for i, p := range list {
		at, f, err := p.functionIn(original, file, text)
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("line %d: %s: %w", p.at, p.why, err))
			continue
		}
		fmt.Fprintf(&copies[at], "\nif chosenMutant == %d {\n//line %s:%d\n%s\n", numbers[i], listPath, p.at, f.body)
		if !f.returns {
			copies[at].WriteString("return\n")
		}
		copies[at].WriteString("}")
	}
	if wrong != nil {
		return "", wrong
	}
	var woven strings.Builder
	done := 0
	for i, f := range original {
		woven.WriteString(text[done:f.start])
		if copies[i].Len() > 0 {
			woven.Write(copies[i].Bytes())
			fmt.Fprintf(&woven, "\n//line %s:%d\n", filepath.Base(file), f.line)
		}
		done = f.start
	}
	return woven.String() + text[done:], nil
}

// functionIn is the function as the change makes it, and its place among the
// original ones.
func (p picked) functionIn(original []function, file, text string) (int, function, error) {
	changed, err := p.apply(text)
	if err != nil {
		return 0, function{}, err
	}
	functions, err := functionsOf(file, changed)
	if err != nil {
		return 0, function{}, err
	}
	at, err := onlyDifference(original, functions)
	if err != nil {
		return 0, function{}, err
	}
	return at, functions[at], nil
}

// function is one function of a file.
type function struct {
	// signature stands before the body, body between its braces.
	signature, body string
	// start is the offset of the body, line its line.
	start, line int
	returns     bool
}

func functionsOf(file, text string) ([]function, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var list []function
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		from, to := fset.Position(f.Body.Lbrace), fset.Position(f.Body.Rbrace)
		list = append(list, function{
			signature: text[fset.Position(f.Pos()).Offset:from.Offset],
			body:      text[from.Offset+1 : to.Offset],
			start:     from.Offset + 1, line: from.Line,
			returns: f.Type.Results != nil,
		})
	}
	return list, nil
}

// onlyDifference is the index of the one function whose body is another. Changes
// outside of the bodies cannot be woven.
func onlyDifference(before, after []function) (int, error) {
	if len(before) != len(after) {
		return 0, fmt.Errorf("%d functions became %d", len(before), len(after))
	}
	different := -1
	for i := range before {
		if before[i].signature != after[i].signature {
			return 0, fmt.Errorf("the signature %s is changed", strconv.Quote(before[i].signature))
		}
		if before[i].body == after[i].body {
			continue
		}
		if different >= 0 {
			return 0, fmt.Errorf("two functions are changed")
		}
		different = i
	}
	if different < 0 {
		return 0, fmt.Errorf("no function is changed")
	}
	return different, nil
}
