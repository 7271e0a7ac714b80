package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
)

// change is one file with one place of it changed.
type change struct {
	path          string
	line          int
	before, after string
	text          []byte
}

// swaps are the operators that are exchanged, each for the one that a slip of
// the mind would put there.
var swaps = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS,
	token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// changesOf lists the changes of one file, in the order of the text.
func changesOf(path string, text []byte) ([]change, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var changes []change
	add := func(pos token.Pos, before, after string) {
		at := fset.Position(pos)
		changed := slices.Concat(text[:at.Offset], []byte(after), text[at.Offset+len(before):])
		changes = append(changes, change{path, at.Line, before, after, changed})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if other, ok := swaps[n.Op]; ok && !isText(n) {
				add(n.OpPos, n.Op.String(), other.String())
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				add(n.OpPos, "!", "")
			}
		case *ast.Ident:
			switch n.Name {
			case "true":
				add(n.Pos(), "true", "false")
			case "false":
				add(n.Pos(), "false", "true")
			}
		case *ast.BranchStmt:
			if n.Label == nil && n.Tok == token.CONTINUE {
				add(n.Pos(), "continue", "break")
			}
		}
		return true
	})
	slices.SortStableFunc(changes, func(a, b change) int { return a.line - b.line })
	return changes, nil
}

// isText reports whether an addition joins strings: there is no subtraction of
// strings, so the change would not compile.
func isText(n *ast.BinaryExpr) bool {
	for _, x := range []ast.Expr{n.X, n.Y} {
		switch x := x.(type) {
		case *ast.BasicLit:
			if x.Kind == token.STRING && n.Op == token.ADD {
				return true
			}
		case *ast.BinaryExpr:
			if n.Op == token.ADD && isText(x) {
				return true
			}
		}
	}
	return false
}
