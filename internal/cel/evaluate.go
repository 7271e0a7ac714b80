package cel

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// most is the maximum number of steps of an evaluation, and of items in a concatenated list.
// largest is the maximum length of a concatenated string in bytes.
const (
	most    = 20_000
	largest = 16 << 10
)

// Evaluate returns the value of an expression. Names that are not given are unknown.
func (e Expression) Evaluate(names map[string]Value) Value {
	r := &run{names: names}
	v := r.value(e.root)
	if r.steps > most {
		return Value{}
	}
	return v
}

// run is one evaluation.
type run struct {
	names map[string]Value
	// local are the names that macros give to elements, the innermost last.
	local []binding
	steps int
}

type binding struct {
	name string
	is   Value
}

// value evaluates a node. It returns unknown once there were too many steps.
func (r *run) value(n *node) Value {
	if r.steps++; r.steps > most {
		return Value{}
	}
	switch n.op {
	case literal:
		return n.is
	case name:
		return r.named(n.name)
	case selects:
		return r.value(n.args[0]).at(n.name)
	case maySelect:
		return r.value(n.args[0]).mayBeAt(n.name)
	case index, mayIndex:
		return at(r.value(n.args[0]), r.value(n.args[1]), n.op == mayIndex)
	case list:
		return r.list(n.args)
	case entries:
		return r.entries(n.args)
	case not:
		return negated(r.value(n.args[0]))
	case conjunction:
		return and(r.value(n.args[0]), r.value(n.args[1]))
	case disjunction:
		return or(r.value(n.args[0]), r.value(n.args[1]))
	case conditional:
		return r.conditional(n)
	case relation:
		return related(n.name, r.value(n.args[0]), r.value(n.args[1]))
	case call:
		return r.call(n)
	case method:
		return r.method(n)
	case other:
	}
	return Value{}
}

// named returns the value of a name; unknown if it has none.
func (r *run) named(is string) Value {
	for _, b := range slices.Backward(r.local) {
		if b.name == is {
			return b.is
		}
	}
	return r.names[is]
}

func negated(v Value) Value {
	switch v.Kind {
	case Unknown:
		return Value{}
	case Bool:
		return Is(!v.True)
	default:
		return failed
	}
}

// conditional evaluates only the branch that the condition selects.
func (r *run) conditional(n *node) Value {
	switch c := r.value(n.args[0]); {
	case c.is(true):
		return r.value(n.args[1])
	case c.is(false):
		return r.value(n.args[2])
	case c.Kind == Unknown:
		return Value{}
	}
	return failed
}

// list evaluates a list literal. With an unknown element the list is unknown, because the element
// may be an error.
func (r *run) list(items []*node) Value {
	v := Value{Kind: List}
	for _, n := range items {
		x := r.value(n)
		if x.Kind == Failed {
			return failed
		}
		if x.Kind == Unknown {
			v.Kind = Unknown
		}
		v.Items = append(v.Items, x)
	}
	return whole(v)
}

// whole returns v, or the zero Value if v is unknown: an unknown value has no content.
func whole(v Value) Value {
	if v.Kind == Unknown {
		return Value{}
	}
	return v
}

// entries evaluates a map literal. With an unknown key or value the map is unknown.
func (r *run) entries(args []*node) Value {
	v := Value{Kind: Map, Fields: map[string]Value{}}
	for i := 0; i < len(args); i += 2 {
		key, x := r.value(args[i]), r.value(args[i+1])
		if key.Kind == Failed || x.Kind == Failed {
			return failed
		}
		if key.Kind != String || x.Kind == Unknown {
			v.Kind = Unknown
		}
		v.Fields[key.Text] = x
	}
	return whole(v)
}

// at returns an element of a list or an entry of a map.
func at(in, key Value, optional bool) Value {
	switch {
	case in.Kind == Failed || key.Kind == Failed:
		return failed
	case in.Kind == Unknown || key.Kind == Unknown:
		return Value{}
	case key.Kind == String && optional:
		return in.mayBeAt(key.Text)
	case key.Kind == String:
		return in.at(key.Text)
	case in.Kind == List && key.Kind == Int && !optional:
		if key.Int < 0 || key.Int >= int64(len(in.Items)) {
			return failed
		}
		return in.Items[key.Int]
	}
	return Value{}
}

// related evaluates an operator between two values.
func related(by string, a, b Value) Value {
	switch {
	case by == "in":
		return contains(b, a)
	case a.Kind == Failed || b.Kind == Failed:
		return failed
	case by == "==":
		return equal(a, b)
	case by == "!=":
		return negated(equal(a, b))
	case by == "+":
		return sum(a, b)
	case a.Kind == Int && b.Kind == Int:
		return Is(ordered(by, cmp.Compare(a.Int, b.Int)))
	case a.Kind == String && b.Kind == String:
		return Is(ordered(by, strings.Compare(a.Text, b.Text)))
	}
	return Value{}
}

// ordered reports whether a comparison with this result satisfies an operator.
func ordered(by string, difference int) bool {
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

// sum concatenates strings or lists. Sums of numbers are not evaluated.
func sum(a, b Value) Value {
	switch {
	case a.Kind == String && b.Kind == String && len(a.Text)+len(b.Text) <= largest:
		return Text(a.Text + b.Text)
	case a.Kind == List && b.Kind == List && len(a.Items)+len(b.Items) <= most:
		return Value{Kind: List, Items: slices.Concat(a.Items, b.Items)}
	}
	return Value{}
}

// call evaluates a function or macro without a receiver.
func (r *run) call(n *node) Value {
	switch {
	case n.name == "has" && len(n.args) == 1 && n.args[0].op == selects:
		return r.has(n.args[0])
	case n.name == "size" && len(n.args) == 1:
		return size(r.value(n.args[0]))
	}
	return Value{}
}

// has reports whether a field is set. Null has none.
func (r *run) has(field *node) Value {
	switch in := r.value(field.args[0]); in.Kind {
	case Unknown, Optional:
		return Value{}
	case Map:
		return present(in, field.name)
	case Null:
		return Is(false)
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

// method evaluates a method or macro. args[0] is the receiver.
func (r *run) method(n *node) Value {
	of := r.value(n.args[0])
	switch {
	case of.Kind == Failed:
		return failed
	case (n.name == "exists" || n.name == "all") && len(n.args) == 3 && n.args[1].op == name:
		return r.each(n, of)
	case n.name == "size" && len(n.args) == 1:
		return size(of)
	case n.name == "hasValue" && len(n.args) == 1 && of.Kind == Optional:
		return Is(len(of.Items) == 1)
	case n.name == "orValue" && len(n.args) == 2 && of.Kind == Optional:
		if len(of.Items) == 1 {
			return of.Items[0]
		}
		return r.value(n.args[1])
	case len(n.args) == 2 && of.Kind == String:
		return ofText(n.name, of.Text, r.value(n.args[1]))
	case len(n.args) == 1 && of.Kind == String && (n.name == "lowerAscii" || n.name == "upperAscii"):
		return Text(ascii(n.name == "upperAscii", of.Text))
	}
	return Value{}
}

// ofText evaluates a method of a string with one argument.
func ofText(function, of string, with Value) Value {
	if with.Kind == Failed {
		return failed
	}
	if with.Kind != String {
		return Value{}
	}
	switch function {
	case "startsWith":
		return Is(strings.HasPrefix(of, with.Text))
	case "endsWith":
		return Is(strings.HasSuffix(of, with.Text))
	case "contains":
		return Is(strings.Contains(of, with.Text))
	case "matches":
		re, err := regexp.Compile(with.Text)
		if err != nil {
			return failed
		}
		return Is(re.MatchString(of))
	}
	return Value{}
}

// ascii changes the case of ASCII letters only, as lowerAscii and upperAscii do.
func ascii(upper bool, s string) string {
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

// each evaluates the macro exists or all over the elements of a list or the keys of a map. If the
// map is open, an unknown key may decide.
func (r *run) each(n *node, over Value) Value {
	var items []Value
	switch over.Kind {
	case List:
		items = over.Items
	case Map:
		for _, key := range slices.Sorted(maps.Keys(over.Fields)) {
			if over.Fields[key].Kind != Absent {
				items = append(items, Text(key))
			}
		}
	case Unknown, Optional:
		return Value{}
	default:
		return failed
	}
	join, result := and, Is(true)
	if n.name == "exists" {
		join, result = or, Is(false)
	}
	for _, item := range items {
		r.local = append(r.local, binding{n.args[1].name, item})
		result = join(result, r.value(n.args[2]))
		r.local = r.local[:len(r.local)-1]
	}
	if over.Open {
		result = join(result, Value{})
	}
	return result
}
