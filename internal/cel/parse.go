package cel

import (
	"slices"
	"strconv"
	"strings"
)

// operation says what a node does with its arguments.
type operation uint8

const (
	literal operation = iota
	name
	// selects is args[0].name, and maySelect args[0].?name.
	selects
	maySelect
	// index is args[0][args[1]], and mayIndex args[0][?args[1]].
	index
	mayIndex
	list
	// entries is a map literal. args are key, value, key, value.
	entries
	not
	conjunction
	disjunction
	conditional
	relation
	// call is name(args), and method args[0].name(args[1:]).
	call
	method
	// other is an operation that is not evaluated.
	other
)

// node is a part of an expression.
type node struct {
	op   operation
	name string
	args []*node
	is   Value
}

// Expression is a parsed expression.
type Expression struct{ root *node }

// longest is the maximum length of an expression in bytes, and deepest its maximum nesting. They
// guard against expressions from dumps. The value of a larger expression is unknown.
const (
	longest = 16 << 10
	deepest = 200
)

// Parse reads an expression. The value of an expression that this package does not support is
// unknown.
func Parse(text string) Expression {
	if len(text) > longest {
		return Expression{&node{op: other}}
	}
	tokens, err := tokensOf(text)
	if err != nil {
		return Expression{&node{op: other}}
	}
	p := &parser{tokens: tokens}
	root := p.expression()
	if p.peek().kind != end || p.broken {
		return Expression{&node{op: other}}
	}
	return Expression{root}
}

// parser is a recursive-descent parser. After an error its result is not used.
type parser struct {
	tokens []token
	depth  int
	broken bool
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

// take consumes and returns the next token if it is one of these signs.
func (p *parser) take(signs ...string) (string, bool) {
	t := p.peek()
	if t.kind == sign && slices.Contains(signs, t.text) {
		p.next()
		return t.text, true
	}
	return "", false
}

func (p *parser) expect(s string) {
	if _, ok := p.take(s); !ok {
		p.fail()
	}
}

// fail marks the parser as broken and drops the remaining tokens.
func (p *parser) fail() *node {
	p.broken, p.tokens = true, []token{{}}
	return &node{op: other}
}

// expression reads a ternary, the operator with the lowest precedence.
func (p *parser) expression() *node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > deepest {
		return p.fail()
	}
	condition := p.either()
	if _, ok := p.take("?"); !ok {
		return condition
	}
	yes := p.either()
	p.expect(":")
	return &node{op: conditional, args: []*node{condition, yes, p.expression()}}
}

// either reads operands of ||.
func (p *parser) either() *node {
	n := p.both()
	for {
		if _, ok := p.take("||"); !ok {
			return n
		}
		n = &node{op: disjunction, args: []*node{n, p.both()}}
	}
}

// both reads operands of &&.
func (p *parser) both() *node {
	n := p.relation()
	for {
		if _, ok := p.take("&&"); !ok {
			return n
		}
		n = &node{op: conjunction, args: []*node{n, p.relation()}}
	}
}

// relation reads sums with comparison operators or in between.
func (p *parser) relation() *node {
	n := p.sum()
	for {
		by, ok := p.take("==", "!=", "<=", ">=", "<", ">")
		if t := p.peek(); !ok && t.kind == word && t.text == "in" {
			p.next()
			by, ok = "in", true
		}
		if !ok {
			return n
		}
		n = &node{op: relation, name: by, args: []*node{n, p.sum()}}
	}
}

// sum reads sums and products. Only + is evaluated, and only for strings and lists.
func (p *parser) sum() *node {
	n := p.unary()
	for {
		by, ok := p.take("+", "-", "*", "/", "%")
		if !ok {
			return n
		}
		right := p.unary()
		if by == "+" {
			n = &node{op: relation, name: by, args: []*node{n, right}}
			continue
		}
		n = &node{op: other}
	}
}

// unary reads an operand with its negations.
func (p *parser) unary() *node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > deepest {
		return p.fail()
	}
	if _, ok := p.take("!"); ok {
		if _, twice := p.take("!"); twice { // CEL drops a pair of negations, whatever the operand
			return p.unary()
		}
		return &node{op: not, args: []*node{p.unary()}}
	}
	if _, ok := p.take("-"); ok {
		if n := p.unary(); n.op == literal && n.is.Kind == Int {
			return &node{is: Value{Kind: Int, Int: -n.is.Int}}
		}
		return &node{op: other}
	}
	return p.member()
}

// member reads a value with its fields, calls and indices.
func (p *parser) member() *node {
	n := p.primary()
	for {
		switch by, _ := p.take(".", "["); by {
		case ".":
			n = p.field(n)
		case "[":
			op := index
			if _, ok := p.take("?"); ok {
				op = mayIndex
			}
			n = &node{op: op, args: []*node{n, p.expression()}}
			p.expect("]")
		default:
			return n
		}
	}
}

// field reads what follows a dot: a field, an optional field or a method call.
func (p *parser) field(of *node) *node {
	op := selects
	if _, ok := p.take("?"); ok {
		op = maySelect
	}
	t := p.next()
	if t.kind != word {
		return p.fail()
	}
	if _, ok := p.take("("); ok && op == selects {
		return &node{op: method, name: t.text, args: append([]*node{of}, p.list(")")...)}
	}
	return &node{op: op, name: t.text, args: []*node{of}}
}

// primary reads a literal, a name, a function call or an expression in parentheses.
func (p *parser) primary() *node {
	switch t := p.next(); t.kind {
	case text:
		return &node{is: Text(t.text)}
	case number:
		n, err := strconv.ParseInt(t.text, 0, 64)
		if err != nil || len(t.text) > 1 && t.text[0] == '0' && !strings.HasPrefix(strings.ToLower(t.text), "0x") || strings.Contains(t.text, "_") {
			return &node{op: other}
		}
		return &node{is: Value{Kind: Int, Int: n}}
	case word:
		return p.named(t.text)
	case sign:
		switch t.text {
		case "(":
			n := p.expression()
			p.expect(")")
			return n
		case "[":
			return &node{op: list, args: p.list("]")}
		case "{":
			return p.entries()
		}
	case end:
	}
	return p.fail()
}

// named reads what a word begins: a keyword, a function call or a name.
func (p *parser) named(is string) *node {
	switch is {
	case "true", "false":
		return &node{is: Is(is == "true")}
	case "null":
		return &node{is: Value{Kind: Null}}
	}
	if _, ok := p.take("("); ok {
		return &node{op: call, name: is, args: p.list(")")}
	}
	if t := p.peek(); t.kind == sign && t.text == "{" {
		return p.fail() // a literal of a message type
	}
	return &node{op: name, name: is}
}

// list reads expressions separated by commas until a sign. A comma before the sign is allowed.
func (p *parser) list(until string) []*node {
	var items []*node
	for {
		if _, ok := p.take(until); ok {
			return items
		}
		items = append(items, p.expression())
		if _, ok := p.take(","); !ok {
			p.expect(until)
			return items
		}
	}
}

func (p *parser) entries() *node {
	n := &node{op: entries}
	for {
		if _, ok := p.take("}"); ok {
			return n
		}
		key := p.expression()
		p.expect(":")
		n.args = append(n.args, key, p.expression())
		if _, ok := p.take(","); !ok {
			p.expect("}")
			return n
		}
	}
}
