package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// operation is one way to break a function: a kind of syntax, its occurrence in
// the function counted from 1, and the change. `&& 2 left` keeps only the left
// operand of the second && of the function.
//
// An operation names no variable and no line, so it survives renaming and
// reformatting.
type operation struct {
	kind   string
	n      int
	change string
}

func (o operation) String() string { return fmt.Sprintf("%s %d %s", o.kind, o.n, o.change) }

// edit replaces the text between two offsets.
type edit struct {
	from, to int
	text     string
}

// mutation is an operation with its edits of the text of the file.
type mutation struct {
	operation
	// at is the offset of the operator or of the beginning of the syntax. Occurrences
	// are counted in its order.
	at    int
	edits []edit
}

// swaps are the operators that are exchanged, each for the one that a slip of
// the mind would put there.
var swaps = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS,
	token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// mutationsOf lists all operations on a function, in the order of the text:
//
//	if 1 never       the condition is false
//	if 1 always      the condition is true
//	case 1 never     the case does not apply
//	case 1 always    the case applies, whatever its condition
//	&& 1 left        only the left operand counts; likewise || and right
//	== 1 !=          another operator; likewise != < <= > >= + -
//	! 1 removed      the negation goes
//	true 1 false     and the other way round
//	continue 1 break
//	return 1 zero    zero values are returned
//	stmt 1 removed   an assignment or a call is not executed
//	elem 1 removed   an element of a composite literal or of the values of a case goes
//
// Replaced code stays where the compiler sees it: a variable that becomes unused
// would not compile.
func mutationsOf(fset *token.FileSet, f *ast.FuncDecl) []mutation {
	l := lister{offset: func(p token.Pos) int { return fset.Position(p).Offset }}
	l.function(f.Type, f.Body)
	slices.SortStableFunc(l.found, func(a, b mutation) int { return a.at - b.at })
	counts, last := map[string]int{}, map[string]int{}
	for i := range l.found {
		m := &l.found[i]
		if m.at != last[m.kind] {
			counts[m.kind]++
			last[m.kind] = m.at
		}
		m.n = counts[m.kind]
	}
	return l.found
}

type lister struct {
	offset func(token.Pos) int
	found  []mutation
}

// function lists the operations on one body. A function literal returns its own
// results, so it is walked with its own type.
func (l *lister) function(typ *ast.FuncType, body *ast.BlockStmt) {
	var tagless []*ast.CaseClause
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			l.function(n.Type, n.Body)
			return false
		case *ast.SwitchStmt:
			if n.Tag == nil {
				for _, c := range n.Body.List {
					tagless = append(tagless, c.(*ast.CaseClause))
				}
			}
		case *ast.CaseClause:
			l.clause(n, slices.Contains(tagless, n))
		case *ast.IfStmt:
			l.add(n.Pos(), "if", "never", l.wrap(n.Cond, "false && (", ")"))
			l.add(n.Pos(), "if", "always", l.wrap(n.Cond, "true || (", ")"))
		case *ast.ReturnStmt:
			l.zero(n, typ)
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE && n.Label == nil {
				l.add(n.Pos(), "continue", "break", l.replace(n, "break"))
			}
		case *ast.ExprStmt, *ast.IncDecStmt:
			l.add(n.Pos(), "stmt", "removed", l.wrap(n, "if false { ", " }"))
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				l.add(n.Pos(), "stmt", "removed", l.wrap(n, "if false { ", " }"))
			}
		case *ast.CompositeLit:
			l.elements(n.Elts, n.Rbrace)
		default:
			l.operator(n)
		}
		return true
	})
}

// operator lists the operations on an operator or a boolean.
func (l *lister) operator(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		at, op := l.offset(n.OpPos), n.Op.String()
		switch other := swaps[n.Op]; {
		case n.Op == token.LAND:
			l.add(n.OpPos, op, "left", l.wrap(n.Y, "(true || (", "))"))
			l.add(n.OpPos, op, "right", l.wrap(n.X, "(true || (", "))"))
		case n.Op == token.LOR:
			l.add(n.OpPos, op, "left", l.wrap(n.Y, "(false && (", "))"))
			l.add(n.OpPos, op, "right", l.wrap(n.X, "(false && (", "))"))
		case other != token.ILLEGAL:
			l.add(n.OpPos, op, other.String(), []edit{{at, at + len(op), other.String()}})
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			at := l.offset(n.OpPos)
			l.add(n.OpPos, "!", "removed", []edit{{at, at + 1, ""}})
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			l.add(n.Pos(), "true", "false", l.replace(n, "false"))
		case "false":
			l.add(n.Pos(), "false", "true", l.replace(n, "true"))
		}
	}
}

func (l *lister) clause(c *ast.CaseClause, tagless bool) {
	if !tagless {
		l.add(c.Pos(), "case", "never", l.replace(c, ""))
		if len(c.List) > 1 {
			l.elements(c.List, c.Colon)
		}
		return
	}
	var never, always []edit
	for _, cond := range c.List {
		never = append(never, l.wrap(cond, "false && (", ")")...)
		always = append(always, l.wrap(cond, "true || (", ")")...)
	}
	if len(c.List) == 0 {
		never = l.replace(c, "")
	}
	l.add(c.Pos(), "case", "never", never)
	if len(always) > 0 {
		l.add(c.Pos(), "case", "always", always)
	}
}

// zero lists a return of zero values, unless the function returns nothing.
func (l *lister) zero(n *ast.ReturnStmt, typ *ast.FuncType) {
	if typ.Results == nil {
		return
	}
	var zeros []string
	for _, field := range typ.Results.List {
		for range max(1, len(field.Names)) {
			zeros = append(zeros, fmt.Sprintf("*new(%s)", types.ExprString(field.Type)))
		}
	}
	before := fmt.Sprintf("if true { return %s }; ", strings.Join(zeros, ", "))
	l.add(n.Pos(), "return", "zero", l.wrap(n, before, ""))
}

// elements lists the removal of each of several elements. end is the position of
// what closes the list.
func (l *lister) elements(list []ast.Expr, end token.Pos) {
	for i, e := range list {
		from, to := l.offset(e.Pos()), l.offset(end)
		if i+1 < len(list) {
			to = l.offset(list[i+1].Pos())
		} else if i > 0 {
			from = l.offset(list[i-1].End())
		}
		l.add(e.Pos(), "elem", "removed", []edit{{from, to, ""}})
	}
}

func (l *lister) add(pos token.Pos, kind, change string, edits []edit) {
	l.found = append(l.found, mutation{operation{kind: kind, change: change}, l.offset(pos), edits})
}

func (l *lister) wrap(n ast.Node, before, after string) []edit {
	from, to := l.offset(n.Pos()), l.offset(n.End())
	return []edit{{from, from, before}, {to, to, after}}
}

func (l *lister) replace(n ast.Node, text string) []edit {
	return []edit{{l.offset(n.Pos()), l.offset(n.End()), text}}
}
