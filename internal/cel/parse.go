package cel

import (
	"slices"
	"strconv"
	"strings"
)

// operation says what a node does with its arguments.
type operation uint8

const (
	opLiteral operation = iota
	opName
	// opSelect is args[0].name, and opOptionalSelect args[0].?name.
	opSelect
	opOptionalSelect
	// opIndex is args[0][args[1]], and opOptionalIndex args[0][?args[1]].
	opIndex
	opOptionalIndex
	opList
	// opMap is a map literal. args are key, value, key, value.
	opMap
	opNot
	opAnd
	opOr
	opConditional
	opBinary
	// opCall is name(args), and method args[0].name(args[1:]).
	opCall
	opMethod
	// opUnsupported is an operation that is not evaluated.
	opUnsupported
)

// node is a part of an expression.
type node struct {
	op    operation
	name  string
	args  []*node
	value Value
}

// Expression is a parsed expression.
type Expression struct{ root *node }

// maxExpressionBytes is the maximum length of an expression in bytes, and maxDepth its maximum
// nesting. They guard against expressions from dumps. The value of a larger expression is unknown.
const (
	maxExpressionBytes = 16 << 10
	maxDepth           = 200
)

// Parse reads an expression. The value of an expression that this package does not support is
// unknown.
func Parse(text string) Expression {
	if len(text) > maxExpressionBytes {
		return Expression{&node{op: opUnsupported}}
	}
	tokens, err := tokenize(text)
	if err != nil {
		return Expression{&node{op: opUnsupported}}
	}
	p := &parser{tokens: tokens}
	root := p.parseExpression()
	if p.peek().kind != endToken || p.failed {
		return Expression{&node{op: opUnsupported}}
	}
	return Expression{root}
}

// parser is a recursive-descent parser. After an error its result is not used.
type parser struct {
	tokens []token
	depth  int
	failed bool
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != endToken {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept consumes and returns the next token if it is one of these symbols.
func (p *parser) accept(signs ...string) (string, bool) {
	t := p.peek()
	if t.kind == symbolToken && slices.Contains(signs, t.text) {
		p.next()
		return t.text, true
	}
	return "", false
}

func (p *parser) expect(s string) {
	if _, ok := p.accept(s); !ok {
		p.fail()
	}
}

// fail marks the parser as failed and drops the remaining tokens.
func (p *parser) fail() *node {
	p.failed, p.tokens = true, []token{{}}
	return &node{op: opUnsupported}
}

// parseExpression reads a ternary, the operator with the lowest precedence.
func (p *parser) parseExpression() *node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return p.fail()
	}
	condition := p.parseOr()
	if _, ok := p.accept("?"); !ok {
		return condition
	}
	yes := p.parseOr()
	p.expect(":")
	return &node{op: opConditional, args: []*node{condition, yes, p.parseExpression()}}
}

// parseOr reads operands of ||.
func (p *parser) parseOr() *node {
	n := p.parseAnd()
	for {
		if _, ok := p.accept("||"); !ok {
			return n
		}
		n = &node{op: opOr, args: []*node{n, p.parseAnd()}}
	}
}

// parseAnd reads operands of &&.
func (p *parser) parseAnd() *node {
	n := p.parseRelation()
	for {
		if _, ok := p.accept("&&"); !ok {
			return n
		}
		n = &node{op: opAnd, args: []*node{n, p.parseRelation()}}
	}
}

// parseRelation reads sums with comparison operators or in between.
func (p *parser) parseRelation() *node {
	n := p.parseSum()
	for {
		by, ok := p.accept("==", "!=", "<=", ">=", "<", ">")
		if t := p.peek(); !ok && t.kind == identifierToken && t.text == "in" {
			p.next()
			by, ok = "in", true
		}
		if !ok {
			return n
		}
		n = &node{op: opBinary, name: by, args: []*node{n, p.parseSum()}}
	}
}

// parseSum reads sums and products. Only + is evaluated, and only for strings and lists.
func (p *parser) parseSum() *node {
	n := p.parseUnary()
	for {
		by, ok := p.accept("+", "-", "*", "/", "%")
		if !ok {
			return n
		}
		right := p.parseUnary()
		if by == "+" {
			n = &node{op: opBinary, name: by, args: []*node{n, right}}
			continue
		}
		n = &node{op: opUnsupported}
	}
}

// parseUnary reads an operand with its negations.
func (p *parser) parseUnary() *node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return p.fail()
	}
	if _, ok := p.accept("!"); ok {
		if _, twice := p.accept("!"); twice { // CEL drops a pair of negations, whatever the operand
			return p.parseUnary()
		}
		return &node{op: opNot, args: []*node{p.parseUnary()}}
	}
	if _, ok := p.accept("-"); ok {
		if n := p.parseUnary(); n.op == opLiteral && n.value.Kind == Int {
			return &node{value: Value{Kind: Int, Int: -n.value.Int}}
		}
		return &node{op: opUnsupported}
	}
	return p.parseMember()
}

// parseMember reads a value with its fields, calls and indices.
func (p *parser) parseMember() *node {
	n := p.parsePrimary()
	for {
		switch by, _ := p.accept(".", "["); by {
		case ".":
			n = p.parseField(n)
		case "[":
			op := opIndex
			if _, ok := p.accept("?"); ok {
				op = opOptionalIndex
			}
			n = &node{op: op, args: []*node{n, p.parseExpression()}}
			p.expect("]")
		default:
			return n
		}
	}
}

// parseField reads what follows a dot: a field, an optional field or a method call.
func (p *parser) parseField(of *node) *node {
	op := opSelect
	if _, ok := p.accept("?"); ok {
		op = opOptionalSelect
	}
	t := p.next()
	if t.kind != identifierToken {
		return p.fail()
	}
	if _, ok := p.accept("("); ok && op == opSelect {
		return &node{op: opMethod, name: t.text, args: append([]*node{of}, p.parseList(")")...)}
	}
	return &node{op: op, name: t.text, args: []*node{of}}
}

// parsePrimary reads a literal, a name, a function call or an expression in parentheses.
func (p *parser) parsePrimary() *node {
	switch t := p.next(); t.kind {
	case stringToken:
		return &node{value: NewString(t.text)}
	case numberToken:
		n, err := strconv.ParseInt(t.text, 0, 64)
		if err != nil || len(t.text) > 1 && t.text[0] == '0' && !strings.HasPrefix(strings.ToLower(t.text), "0x") || strings.Contains(t.text, "_") {
			return &node{op: opUnsupported}
		}
		return &node{value: Value{Kind: Int, Int: n}}
	case identifierToken:
		return p.parseIdentifier(t.text)
	case symbolToken:
		switch t.text {
		case "(":
			n := p.parseExpression()
			p.expect(")")
			return n
		case "[":
			return &node{op: opList, args: p.parseList("]")}
		case "{":
			return p.parseMap()
		}
	case endToken:
	}
	return p.fail()
}

// parseIdentifier reads what an identifier begins: a keyword, a function call or a name.
func (p *parser) parseIdentifier(is string) *node {
	switch is {
	case "true", "false":
		return &node{value: NewBool(is == "true")}
	case "null":
		return &node{value: Value{Kind: Null}}
	}
	if _, ok := p.accept("("); ok {
		return &node{op: opCall, name: is, args: p.parseList(")")}
	}
	if t := p.peek(); t.kind == symbolToken && t.text == "{" {
		return p.fail() // a literal of a message type
	}
	return &node{op: opName, name: is}
}

// parseList reads expressions separated by commas until a symbol. A comma before that symbol is
// allowed.
func (p *parser) parseList(until string) []*node {
	var items []*node
	for {
		if _, ok := p.accept(until); ok {
			return items
		}
		items = append(items, p.parseExpression())
		if _, ok := p.accept(","); !ok {
			p.expect(until)
			return items
		}
	}
}

func (p *parser) parseMap() *node {
	n := &node{op: opMap}
	for {
		if _, ok := p.accept("}"); ok {
			return n
		}
		key := p.parseExpression()
		p.expect(":")
		n.args = append(n.args, key, p.parseExpression())
		if _, ok := p.accept(","); !ok {
			p.expect("}")
			return n
		}
	}
}
