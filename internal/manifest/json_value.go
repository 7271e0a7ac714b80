package manifest

import (
	"encoding/json"
	"strconv"
)

// enter consumes the bracket at the current position.
func (l *lexer) enter() error {
	if len(l.open) >= maxDepth {
		return l.wrong("nested deeper than %d", maxDepth)
	}
	l.open = append(l.open, l.buf[l.pos])
	l.pos++
	return nil
}

// leave consumes the closing bracket at the current position.
func (l *lexer) leave() {
	l.open = l.open[:len(l.open)-1]
	l.pos++
}

// member moves to the value of the next member of the current object and stores its key in l.key.
// After the last member it consumes the closing bracket and returns false.
func (l *lexer) member(first bool) (bool, error) {
	c := l.token()
	if c == '}' {
		l.leave()
		return false, nil
	}
	if !first {
		if c != ',' {
			return false, l.unexpected("a comma or }")
		}
		l.pos++
		c = l.token()
	}
	if c != '"' {
		return false, l.unexpected("a key in quotes")
	}
	key, err := l.appendString(l.key[:0])
	if err != nil {
		return false, err
	}
	l.key = key
	if l.token() != ':' {
		return false, l.unexpected("a colon")
	}
	l.pos++
	l.token()
	return true, nil
}

// members reads the object at the current position; null has no members. It calls read for each
// member, with its key in l.key, which must consume the value. path names the object in errors.
// With flat, a key is the name of a Go field.
func (l *lexer) members(path string, flat bool, read func() error) error {
	in, err := l.object(path)
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if flat && len(l.key) > 0 && l.key[0] >= 'A' && l.key[0] <= 'Z' {
			l.key[0] += 'a' - 'A' // the JSON name of the field
		}
		err = read()
	}
	return err
}

// element moves to the next element of the current array. After the last element it consumes the
// closing bracket and returns false.
func (l *lexer) element(first bool) (bool, error) {
	c := l.token()
	switch {
	case c == ']':
		l.leave()
		return false, nil
	case first:
		return true, nil
	case c != ',':
		return false, l.unexpected("a comma or ]")
	}
	l.pos++
	if l.token() == ']' {
		return false, l.unexpected("a value")
	}
	return true, nil
}

// elements reads the array at the current position; null is an empty array. It calls read at the
// start of each element, which must consume it. path names the array in errors.
func (l *lexer) elements(path string, read func() error) error {
	in, err := l.array(path)
	for first := true; in && err == nil; first = false {
		if in, err = l.element(first); in && err == nil {
			err = read()
		}
	}
	return err
}

// entries is elements for an array of mappings.
func (l *lexer) entries(path string, read func() error) error {
	return l.elements(path, func() error {
		if l.token() != '{' {
			return l.mistyped("an entry of "+path, "a mapping")
		}
		return read()
	})
}

// skip skips the value at the current position.
func (l *lexer) skip() error {
	outside := len(l.open)
	for {
		// A value starts here.
		switch c := l.token(); c {
		case '"':
			if err := l.skipString(); err != nil {
				return err
			}
		case '{':
			if err := l.enter(); err != nil {
				return err
			}
			if l.token() != '}' {
				if err := l.skipKey(); err != nil {
					return err
				}
				continue
			}
			l.leave()
		case '[':
			if err := l.enter(); err != nil {
				return err
			}
			if l.token() != ']' {
				continue
			}
			l.leave()
		default:
			if _, err := l.scalar(); err != nil {
				return err
			}
		}
		// A value ended here.
		if more, err := l.skipEnds(outside); err != nil || !more {
			return err
		}
	}
}

// skipEnds continues after a value, over closing brackets, to the next value. It returns false once
// only outside brackets are open.
func (l *lexer) skipEnds(outside int) (bool, error) {
	for len(l.open) > outside {
		c := l.token()
		if l.open[len(l.open)-1] == '{' {
			switch c {
			case ',':
				l.pos++
				l.token()
				return true, l.skipKey()
			case '}':
				l.leave()
			default:
				return false, l.unexpected("a comma or }")
			}
			continue
		}
		switch c {
		case ',':
			l.pos++
			return true, nil
		case ']':
			l.leave()
		default:
			return false, l.unexpected("a comma or ]")
		}
	}
	return false, nil
}

func (l *lexer) skipKey() error {
	if l.pos >= l.end || l.buf[l.pos] != '"' {
		return l.unexpected("a key in quotes")
	}
	if err := l.skipString(); err != nil {
		return err
	}
	if l.token() != ':' {
		return l.unexpected("a colon")
	}
	l.pos++
	return nil
}

// scalar consumes a number, true, false or null and returns its text, which is valid until more
// input is read.
func (l *lexer) scalar() ([]byte, error) {
	n := 0
	for {
		for l.pos+n < l.end && inScalar(l.buf[l.pos+n]) {
			n++
		}
		if n > maxNumber {
			return nil, l.wrong("a number has more than %d digits", maxNumber)
		}
		if l.pos+n < l.end || !l.fill() {
			break
		}
	}
	text := l.buf[l.pos : l.pos+n]
	if n == 0 {
		return nil, l.unexpected("a value")
	}
	switch string(text) {
	case "true", "false", "null":
	default:
		if !isNumber(text) {
			if l.pos+n == l.end && startsScalar(text) {
				l.pos = l.end
				return nil, l.unexpected("a value")
			}
			return nil, l.wrong("%q is not a JSON value", text[:min(n, 40)])
		}
	}
	l.pos += n
	return text, nil
}

func inScalar(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

// startsScalar reports whether text may be a JSON value that was truncated at the end of the input.
func startsScalar(text []byte) bool {
	for _, word := range []string{"true", "false", "null"} {
		if len(text) < len(word) && string(text) == word[:len(text)] {
			return true
		}
	}
	return isNumber(append(append([]byte(nil), text...), '0'))
}

// isNumber reports whether text is a number by the grammar of JSON.
func isNumber(text []byte) bool {
	return len(text) > 0 && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid(text)
}

// mistyped returns the Problem that a field has the wrong type.
func (l *lexer) mistyped(field, wanted string) error {
	var is string
	switch c := l.token(); {
	case c == '"':
		is = "a string"
	case c == '{':
		is = "a mapping"
	case c == '[':
		is = "a list"
	case c == 't', c == 'f':
		is = "a boolean"
	case c == 'n':
		is = "null"
	case c == '-', c >= '0' && c <= '9':
		is = "a number"
	default:
		return l.unexpected("a value")
	}
	return l.wrong("%s is %s; it must be %s", field, is, wanted)
}

// null consumes the value at the current position if it is null.
func (l *lexer) null() (bool, error) {
	if l.token() != 'n' {
		return false, nil
	}
	_, err := l.scalar()
	return err == nil, err
}

// text appends the string at the current position to dst; null is empty.
func (l *lexer) text(dst []byte, field string) ([]byte, error) {
	if l.token() == '"' {
		from := len(dst)
		dst, err := l.appendString(dst)
		if err != nil {
			return nil, err
		}
		return dst, l.charge(len(dst) - from)
	}
	if null, err := l.null(); null || err != nil {
		return dst, err
	}
	return nil, l.mistyped(field, "a string")
}

// integer reads an integer; null is no integer.
func (l *lexer) integer(field string) (value int64, ok bool, err error) {
	switch c := l.token(); {
	case c == 'n':
		_, err := l.scalar()
		return 0, false, err
	case c != '-' && (c < '0' || c > '9'):
		return 0, false, l.mistyped(field, "an integer")
	}
	text, err := l.scalar()
	if err != nil {
		return 0, false, err
	}
	value, err = strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, false, l.wrong("%s is %s; it must be an integer of 64 bits", field, text)
	}
	return value, true, nil
}

// boolean reads a boolean; null is no boolean.
func (l *lexer) boolean(field string) (value, ok bool, err error) {
	switch l.token() {
	case 't', 'f', 'n':
	default:
		return false, false, l.mistyped(field, "a boolean")
	}
	text, err := l.scalar()
	if err != nil {
		return false, false, err
	}
	return text[0] == 't', text[0] != 'n', nil
}

// array enters the array at the current position. It returns false for null.
func (l *lexer) array(field string) (bool, error) {
	return l.collection('[', field, "a list")
}

// object enters the object at the current position. It returns false for null.
func (l *lexer) object(field string) (bool, error) {
	return l.collection('{', field, "a mapping")
}

func (l *lexer) collection(bracket byte, field, wanted string) (bool, error) {
	if l.token() == bracket {
		return true, l.enter()
	}
	if null, err := l.null(); null || err != nil {
		return false, err
	}
	return false, l.mistyped(field, wanted)
}
