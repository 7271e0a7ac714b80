package cel

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxSteps is the maximum number of steps of an evaluation, and of items in a concatenated list.
// maxStringBytes is the maximum length of a concatenated string in bytes.
const (
	maxSteps       = 20_000
	maxStringBytes = 16 << 10
)

// Evaluate returns the value of an expression. Names that are not given are unknown.
func (e Expression) Evaluate(names map[string]Value) Value {
	r := &evaluation{names: names}
	v := r.evaluate(e.root)
	if r.steps > maxSteps {
		return Value{}
	}
	return v
}

type evaluation struct {
	names map[string]Value
	// bindings are the names that macros give to elements, the innermost last.
	bindings []binding
	steps    int
}

type binding struct {
	name  string
	value Value
}

// evaluate evaluates a node. It returns unknown once there were too many steps.
func (r *evaluation) evaluate(n *node) Value {
	if r.steps++; r.steps > maxSteps {
		return Value{}
	}
	switch n.op {
	case opLiteral:
		return n.value
	case opName:
		return r.lookup(n.name)
	case opSelect:
		return r.evaluate(n.args[0]).selectField(n.name)
	case opOptionalSelect:
		return r.evaluate(n.args[0]).selectOptionalField(n.name)
	case opIndex, opOptionalIndex:
		return evaluateIndex(r.evaluate(n.args[0]), r.evaluate(n.args[1]), n.op == opOptionalIndex)
	case opList:
		return r.evaluateList(n.args)
	case opMap:
		return r.evaluateMap(n.args)
	case opNot:
		return negate(r.evaluate(n.args[0]))
	case opAnd:
		return and(r.evaluate(n.args[0]), r.evaluate(n.args[1]))
	case opOr:
		return or(r.evaluate(n.args[0]), r.evaluate(n.args[1]))
	case opConditional:
		return r.evaluateConditional(n)
	case opBinary:
		return evaluateBinary(n.name, r.evaluate(n.args[0]), r.evaluate(n.args[1]))
	case opCall:
		return r.evaluateCall(n)
	case opMethod:
		return r.evaluateMethod(n)
	case opUnsupported:
	}
	return Value{}
}

// lookup returns the value of a name; unknown if it has none.
func (r *evaluation) lookup(is string) Value {
	for _, b := range slices.Backward(r.bindings) {
		if b.name == is {
			return b.value
		}
	}
	return r.names[is]
}

func negate(v Value) Value {
	switch v.Kind {
	case Unknown:
		return Value{}
	case Bool:
		return NewBool(!v.True)
	default:
		return failed
	}
}

// evaluateConditional evaluates only the branch that the condition selects.
func (r *evaluation) evaluateConditional(n *node) Value {
	switch c := r.evaluate(n.args[0]); {
	case c.isBool(true):
		return r.evaluate(n.args[1])
	case c.isBool(false):
		return r.evaluate(n.args[2])
	case c.Kind == Unknown:
		return Value{}
	}
	return failed
}

// evaluateList evaluates a list literal. With an unknown element the list is unknown, because the
// element may be an error.
func (r *evaluation) evaluateList(items []*node) Value {
	v := Value{Kind: List}
	for _, n := range items {
		x := r.evaluate(n)
		if x.Kind == Failed {
			return failed
		}
		if x.Kind == Unknown {
			v.Kind = Unknown
		}
		v.Items = append(v.Items, x)
	}
	return dropUnknownContent(v)
}

// dropUnknownContent returns v, or the zero Value if v is unknown: an unknown value has no content.
func dropUnknownContent(v Value) Value {
	if v.Kind == Unknown {
		return Value{}
	}
	return v
}

// evaluateMap evaluates a map literal. With an unknown key or value the map is unknown.
func (r *evaluation) evaluateMap(args []*node) Value {
	v := Value{Kind: Map, Fields: map[string]Value{}}
	for i := 0; i < len(args); i += 2 {
		key, x := r.evaluate(args[i]), r.evaluate(args[i+1])
		if key.Kind == Failed || x.Kind == Failed {
			return failed
		}
		if key.Kind != String || x.Kind == Unknown {
			v.Kind = Unknown
		}
		v.Fields[key.Text] = x
	}
	return dropUnknownContent(v)
}

// evaluateIndex returns an element of a list or an entry of a map.
func evaluateIndex(in, key Value, optional bool) Value {
	switch {
	case in.Kind == Failed || key.Kind == Failed:
		return failed
	case in.Kind == Unknown || key.Kind == Unknown:
		return Value{}
	case key.Kind == String && optional:
		return in.selectOptionalField(key.Text)
	case key.Kind == String:
		return in.selectField(key.Text)
	case in.Kind == List && key.Kind == Int && !optional:
		if key.Int < 0 || key.Int >= int64(len(in.Items)) {
			return failed
		}
		return in.Items[key.Int]
	}
	return Value{}
}

// evaluateBinary evaluates an operator between two values.
func evaluateBinary(by string, a, b Value) Value {
	switch {
	case by == "in":
		return contains(b, a)
	case a.Kind == Failed || b.Kind == Failed:
		return failed
	case by == "==":
		return equal(a, b)
	case by == "!=":
		return negate(equal(a, b))
	case by == "+":
		return add(a, b)
	case a.Kind == Int && b.Kind == Int:
		return NewBool(satisfies(by, cmp.Compare(a.Int, b.Int)))
	case a.Kind == String && b.Kind == String:
		return NewBool(satisfies(by, strings.Compare(a.Text, b.Text)))
	}
	return Value{}
}

// satisfies reports whether a comparison with this result satisfies an operator.
func satisfies(by string, difference int) bool {
	switch by {
	case "<":
		return difference < 0
	case "<=":
		return difference <= 0
	case ">":
		return difference > 0
	default:
		return difference >= 0
	}
}

// add concatenates strings or lists. Sums of numbers are not evaluated.
func add(a, b Value) Value {
	switch {
	case a.Kind == String && b.Kind == String && len(a.Text)+len(b.Text) <= maxStringBytes:
		return NewString(a.Text + b.Text)
	case a.Kind == List && b.Kind == List && len(a.Items)+len(b.Items) <= maxSteps:
		return Value{Kind: List, Items: slices.Concat(a.Items, b.Items)}
	}
	return Value{}
}

// evaluateCall evaluates a function or macro without a receiver.
func (r *evaluation) evaluateCall(n *node) Value {
	switch {
	case n.name == "has" && len(n.args) == 1 && n.args[0].op == opSelect:
		return r.evaluateHas(n.args[0])
	case n.name == "size" && len(n.args) == 1:
		return size(r.evaluate(n.args[0]))
	}
	return Value{}
}

// evaluateHas reports whether a field is set. Null has none.
func (r *evaluation) evaluateHas(field *node) Value {
	switch in := r.evaluate(field.args[0]); in.Kind {
	case Unknown, Optional:
		return Value{}
	case Map:
		return hasKey(in, field.name)
	case Null:
		return NewBool(false)
	default:
		return failed
	}
}

// size returns the length of a string in characters, or of a list or map in elements.
func size(v Value) Value {
	switch {
	case v.Kind == Failed:
		return failed
	case v.Kind == String:
		return Value{Kind: Int, Int: int64(len([]rune(v.Text)))}
	case v.Kind == List:
		return Value{Kind: Int, Int: int64(len(v.Items))}
	case v.Kind == Map && !v.Open:
		return Value{Kind: Int, Int: int64(len(v.Fields))}
	}
	return Value{}
}

// evaluateMethod evaluates a method or macro. args[0] is the receiver.
func (r *evaluation) evaluateMethod(n *node) Value {
	of := r.evaluate(n.args[0])
	switch {
	case of.Kind == Failed:
		return failed
	case (n.name == "exists" || n.name == "all") && len(n.args) == 3 && n.args[1].op == opName:
		return r.evaluateMacro(n, of)
	case n.name == "size" && len(n.args) == 1:
		return size(of)
	case n.name == "hasValue" && len(n.args) == 1 && of.Kind == Optional:
		return NewBool(len(of.Items) == 1)
	case n.name == "orValue" && len(n.args) == 2 && of.Kind == Optional:
		if len(of.Items) == 1 {
			return of.Items[0]
		}
		return r.evaluate(n.args[1])
	case len(n.args) == 2 && of.Kind == String:
		return evaluateStringMethod(n.name, of.Text, r.evaluate(n.args[1]))
	case len(n.args) == 1 && of.Kind == String && (n.name == "lowerAscii" || n.name == "upperAscii"):
		return NewString(changeASCIICase(n.name == "upperAscii", of.Text))
	}
	return Value{}
}

// evaluateStringMethod evaluates a method of a string with one argument.
func evaluateStringMethod(function, of string, with Value) Value {
	if with.Kind == Failed {
		return failed
	}
	if with.Kind != String {
		return Value{}
	}
	switch function {
	case "startsWith":
		return NewBool(strings.HasPrefix(of, with.Text))
	case "endsWith":
		return NewBool(strings.HasSuffix(of, with.Text))
	case "contains":
		return NewBool(strings.Contains(of, with.Text))
	case "matches":
		re, err := regexp.Compile(with.Text)
		if err != nil {
			return failed
		}
		return NewBool(re.MatchString(of))
	}
	return Value{}
}

// changeASCIICase changes the case of ASCII letters only, as lowerAscii and upperAscii do.
func changeASCIICase(upper bool, s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case upper && c >= 'a' && c <= 'z':
			return c - 'a' + 'A'
		case !upper && c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return c
	}, s)
}

// evaluateMacro evaluates the macro exists or all over the elements of a list or the keys of a map.
// If the map is open, an unknown key may decide.
func (r *evaluation) evaluateMacro(n *node, over Value) Value {
	var items []Value
	switch over.Kind {
	case List:
		items = over.Items
	case Map:
		for _, key := range slices.Sorted(maps.Keys(over.Fields)) {
			if over.Fields[key].Kind != Absent {
				items = append(items, NewString(key))
			}
		}
	case Unknown, Optional:
		return Value{}
	default:
		return failed
	}
	join, result := and, NewBool(true)
	if n.name == "exists" {
		join, result = or, NewBool(false)
	}
	for _, item := range items {
		r.bindings = append(r.bindings, binding{n.args[1].name, item})
		result = join(result, r.evaluate(n.args[2]))
		r.bindings = r.bindings[:len(r.bindings)-1]
	}
	if over.Open {
		result = join(result, Value{})
	}
	return result
}
