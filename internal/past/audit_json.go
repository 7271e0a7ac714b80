package past

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// readObject reads an object and calls take with the name of each field. take must read or skip the
// value. Null is an object without fields.
func (r *auditReader) readObject(what string, take func(name string) error) error {
	if ok, err := r.readStart(what, jsontext.KindBeginObject); !ok {
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

// readArray reads an array and calls take for each value.
func (r *auditReader) readArray(what string, take func() error) error {
	if ok, err := r.readStart(what, jsontext.KindBeginArray); !ok {
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

// readStart reads the start of an object or array. It returns false for null.
func (r *auditReader) readStart(what string, want jsontext.Kind) (bool, error) {
	_, ok, err := r.readToken(what, want)
	return ok, err
}

// readString reads a string.
func (r *auditReader) readString(what string, into *string) error {
	token, ok, err := r.readToken(what, jsontext.KindString)
	if ok {
		*into = token.String()
	}
	return err
}

// readInt reads an integer.
func (r *auditReader) readInt(what string, into *int64) error {
	token, ok, err := r.readToken(what, jsontext.KindNumber)
	if !ok {
		return err
	}
	if *into, err = strconv.ParseInt(token.String(), 10, 64); err != nil {
		return fmt.Errorf("%s is not an integer", what)
	}
	return nil
}

// readToken reads a token of a kind. It returns false for null.
func (r *auditReader) readToken(what string, want jsontext.Kind) (jsontext.Token, bool, error) {
	switch kind := r.dec.PeekKind(); kind {
	case want, jsontext.KindNull, jsontext.KindInvalid:
		token, err := r.dec.ReadToken()
		return token, err == nil && kind != jsontext.KindNull, err
	default:
		return jsontext.Token{}, false, fmt.Errorf("%s is %s, not %s", what, kindText(kind), kindText(want))
	}
}

func kindText(k jsontext.Kind) string {
	switch k {
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindNull:
		return "null"
	default:
		return "true or false"
	}
}
