package cel

// Kind is the kind of a Value.
type Kind uint8

// The kinds of values.
const (
	// Unknown is the zero Kind. It may stand for any value, or for an error.
	Unknown Kind = iota
	// Failed is an error of the evaluation.
	Failed
	// Absent is a field that is known not to be set. It occurs only in Fields, never as a result.
	Absent
	Null
	Bool
	Int
	String
	List
	Map
	// Optional holds no value or one, in Items.
	Optional
)

// Value is a value of an expression. The zero Value is unknown.
type Value struct {
	Kind  Kind
	True  bool
	Int   int64
	Text  string
	Items []Value
	// Fields are the entries of a map. A missing one is unknown if the map is Open, and otherwise
	// absent.
	Fields map[string]Value
	Open   bool
}

var (
	failed = Value{Kind: Failed}
	none   = Value{Kind: Optional}
)

// NewBool returns the value of a bool.
func NewBool(yes bool) Value { return Value{Kind: Bool, True: yes} }

// NewString returns the value of a string.
func NewString(s string) Value { return Value{Kind: String, Text: s} }

// NewStringMap returns a map of strings, or a field that is absent if there are none: metadata has
// no empty maps.
func NewStringMap(entries map[string]string) Value {
	if len(entries) == 0 {
		return Value{Kind: Absent}
	}
	v := Value{Kind: Map, Fields: make(map[string]Value, len(entries))}
	for key, text := range entries {
		v.Fields[key] = NewString(text)
	}
	return v
}

// NewOptionalField returns a field with a text, which is absent if the text is empty.
func NewOptionalField(text string) Value {
	if text == "" {
		return Value{Kind: Absent}
	}
	return NewString(text)
}

// isBool reports whether a value is a bool with this value. It is false for unknown values.
func (v Value) isBool(yes bool) bool { return v.Kind == Bool && v.True == yes }

// entry returns an entry of a map, of kind Absent if it is not there.
func (v Value) entry(key string) Value {
	if x, ok := v.Fields[key]; ok {
		return x
	}
	if v.Open {
		return Value{}
	}
	return Value{Kind: Absent}
}

// selectField returns an entry of a map, or of the map in an optional.
func (v Value) selectField(key string) Value {
	switch v.Kind {
	case Unknown:
		return Value{}
	case Optional:
		return v.selectOptionalField(key)
	case Map:
		if x := v.entry(key); x.Kind != Absent {
			return x
		}
	default:
	}
	return failed
}

// selectOptionalField returns an entry of a map as an optional.
func (v Value) selectOptionalField(key string) Value {
	if v.Kind == Optional {
		if len(v.Items) == 0 {
			return none
		}
		v = v.Items[0]
	}
	if v.Kind == Failed {
		return failed
	}
	if v.Kind == Map {
		switch x := v.entry(key); x.Kind {
		case Absent:
			return none
		case Unknown:
		default:
			return Value{Kind: Optional, Items: []Value{x}}
		}
	}
	return Value{}
}

// equal compares two values. The result is unknown for maps and optionals.
func equal(a, b Value) Value {
	switch {
	case a.Kind == Failed || b.Kind == Failed:
		return failed
	case a.Kind == Unknown || b.Kind == Unknown || a.Kind == Optional || b.Kind == Optional:
		return Value{}
	case a.Kind != b.Kind:
		return NewBool(false)
	case a.Kind == Map:
		return Value{}
	case a.Kind == List:
		return equalLists(a.Items, b.Items)
	}
	return NewBool(a.True == b.True && a.Int == b.Int && a.Text == b.Text)
}

func equalLists(a, b []Value) Value {
	if len(a) != len(b) {
		return NewBool(false)
	}
	all := NewBool(true)
	for i := range a {
		all = and(all, equal(a[i], b[i]))
	}
	return all
}

// and is the conjunction: false if either is, whatever the other one is.
func and(a, b Value) Value { return shortCircuit(a, b, false) }

// or is the disjunction: true if either is, whatever the other one is.
func or(a, b Value) Value { return shortCircuit(a, b, true) }

// shortCircuit implements and (by is false) and or (by is true): one operand with the value by
// decides, even if the other one is unknown or an error.
func shortCircuit(a, b Value, by bool) Value {
	switch {
	case a.isBool(by) || b.isBool(by):
		return NewBool(by)
	case a.Kind == Unknown || b.Kind == Unknown:
		return Value{}
	case a.Kind != Bool || b.Kind != Bool:
		return failed
	}
	return NewBool(!by)
}

// contains reports whether a list has an element, or a map a key. For an empty list and an element
// that is an error or unknown, the result is unknown: in an empty list literal, CEL finds nothing
// even then, and literals are not told apart here.
func contains(in, x Value) Value {
	switch {
	case in.Kind == List && len(in.Items) == 0 && (x.Kind == Failed || x.Kind == Unknown):
		return Value{}
	case in.Kind == Failed || x.Kind == Failed:
		return failed
	case in.Kind == List:
		found := NewBool(false)
		for _, y := range in.Items {
			found = or(found, equal(y, x))
		}
		return found
	case in.Kind == Map && x.Kind == String:
		return hasKey(in, x.Text)
	case in.Kind == Unknown || in.Kind == Optional || in.Kind == Map:
		return Value{}
	}
	return failed
}

// hasKey reports whether a map has a key.
func hasKey(in Value, key string) Value {
	x, ok := in.Fields[key]
	if !ok && in.Open {
		return Value{}
	}
	return NewBool(ok && x.Kind != Absent)
}
