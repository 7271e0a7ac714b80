package past

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// fields reads an object and calls take with the name of each field. take must read or skip the
// value. Null is an object without fields.
func (r *reader) fields(what string, take func(name string) error) error {
	if ok, err := r.begin(what, jsontext.KindBeginObject); !ok {
		return err
	}
	for r.dec.PeekKind() == jsontext.KindString {
		name, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		if err := take(name.String()); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// each reads an array and calls take for each value.
func (r *reader) each(what string, take func() error) error {
	if ok, err := r.begin(what, jsontext.KindBeginArray); !ok {
		return err
	}
	for {
		if kind := r.dec.PeekKind(); kind == jsontext.KindEndArray || kind == jsontext.KindInvalid {
			_, err := r.dec.ReadToken()
			return err
		}
		if err := take(); err != nil {
			return err
		}
	}
}

// begin reads the start of an object or array. It returns false for null.
func (r *reader) begin(what string, want jsontext.Kind) (bool, error) {
	switch kind := r.dec.PeekKind(); kind {
	case want, jsontext.KindNull, jsontext.KindInvalid:
		_, err := r.dec.ReadToken()
		return kind == want, err
	default:
		return false, fmt.Errorf("%s is %s, not %s", what, kindText(kind), kindText(want))
	}
}

// text reads a string.
func (r *reader) text(what string, into *string) error {
	switch kind := r.dec.PeekKind(); kind {
	case jsontext.KindString, jsontext.KindNull, jsontext.KindInvalid:
		token, err := r.dec.ReadToken()
		if err == nil && kind == jsontext.KindString {
			*into = token.String()
		}
		return err
	default:
		return fmt.Errorf("%s is %s, not %s", what, kindText(kind), kindText(jsontext.KindString))
	}
}

// number reads an integer.
func (r *reader) number(what string, into *int64) error {
	switch kind := r.dec.PeekKind(); kind {
	case jsontext.KindNumber, jsontext.KindNull, jsontext.KindInvalid:
		token, err := r.dec.ReadToken()
		if err != nil || kind == jsontext.KindNull {
			return err
		}
		if *into, err = strconv.ParseInt(token.String(), 10, 64); err != nil {
			return fmt.Errorf("%s is no whole number", what)
		}
		return nil
	default:
		return fmt.Errorf("%s is %s, not %s", what, kindText(kind), kindText(jsontext.KindNumber))
	}
}

func kindText(k jsontext.Kind) string {
	switch k {
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "a list"
	case jsontext.KindString:
		return "a text"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindNull:
		return "null"
	default:
		return "true or false"
	}
}

// truth reads a boolean as "true" or "false".
func (r *reader) truth(what string, into *string) error {
	switch kind := r.dec.PeekKind(); kind {
	case jsontext.KindTrue, jsontext.KindFalse, jsontext.KindNull, jsontext.KindInvalid:
		token, err := r.dec.ReadToken()
		if err == nil && kind != jsontext.KindNull {
			*into = token.String()
		}
		return err
	default:
		return fmt.Errorf("%s is %s, not %s", what, kindText(kind), kindText(jsontext.KindTrue))
	}
}
