package manifest

import (
	"bytes"
	"maps"
	"strings"
)

// kindOfPlain is the type of a plain scalar.
type kindOfPlain uint8

const (
	plainUnsure kindOfPlain = iota
	plainText
	plainJSON // a number, boolean or null with the same form in JSON
)

// plainKind returns the type of a plain scalar, or plainUnsure if it isn't certain.
func plainKind(b []byte) kindOfPlain {
	c := b[0]
	switch {
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '/':
		return plainWord(b)
	case c >= '0' && c <= '9':
		return plainDigits(b)
	case c == '-': // with a letter after the dashes an option of a command: no number has one there
		if b = bytes.TrimLeft(b, "-"); len(b) > 0 && (b[0]|0x20 >= 'a' && b[0]|0x20 <= 'z') {
			return plainText
		}
	}
	return plainUnsure
}

func plainWord(b []byte) kindOfPlain {
	if len(b) > 5 || bytes.IndexByte([]byte("tfnyo"), b[0]|0x20) < 0 {
		return plainText // no other letter begins a word of YAML
	}
	switch string(b) {
	case "true", "false", "null":
		return plainJSON
	}
	switch strings.ToLower(string(b)) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return plainUnsure
	}
	return plainText
}

// plainDigits judges a scalar that starts with a digit: a number, a time, or text with a character
// that no number has. The only letter in a decimal number is e; other bases start with 0. Hashes
// such as 5d47c484f4 are frequent.
func plainDigits(b []byte) kindOfPlain {
	if len(b) <= 18 && (b[0] != '0' || len(b) == 1) && len(bytes.Trim(b, "0123456789")) == 0 {
		return plainJSON
	}
	if isUUID(b) || isTime(b) {
		return plainText
	}
	dots := 0
	for _, c := range b {
		switch c |= 0x20; {
		case c == '.':
			dots++
		case c < 'a' || c > 'z' || c == 'e':
		case b[0] != '0' || c > 'f' && c != 'o' && c != 'x':
			return plainText
		}
	}
	if dots > 1 {
		return plainText // an IP address
	}
	return plainUnsure
}

// isUUID reports whether b has the form of a UID. With its four dashes it can't be a number or a
// time.
func isUUID(b []byte) bool {
	if len(b) != 36 || b[8] != '-' || b[13] != '-' || b[18] != '-' || b[23] != '-' {
		return false
	}
	digits := 0
	for _, c := range b {
		digits += int(hexDigit[c])
	}
	return digits == 32
}

// hexDigit is 1 for each hexadecimal digit.
var hexDigit = func() (is [256]uint8) {
	for _, c := range "0123456789abcdefABCDEF" {
		is[c] = 1
	}
	return is
}()

// isTime reports whether b has the form 2006-01-02T15:04:05Z.
func isTime(b []byte) bool {
	const form = "2006-01-02T15:04:05Z"
	if len(b) != len(form) {
		return false
	}
	for i, c := range b {
		digit := form[i] >= '0' && form[i] <= '9'
		if digit != (c >= '0' && c <= '9') || !digit && c != form[i] {
			return false
		}
	}
	return true
}

// plainSpecs has what is kept of the spec of each kind. A kind of the same name in another group may have
// outside facts.
var plainSpecs = func() map[*factKind]*keep {
	specs := map[*factKind]*keep{}
	for _, k := range factKinds {
		specs[k] = keepFields(nil)
		maps.Copy(specs[k].fields, outsideFacts.spec.keep.fields)
		maps.Copy(specs[k].fields, k.spec.keep.fields)
	}
	return specs
}()

// narrow returns what is kept under a key of an object, given its kind k, which is nil before it
// was seen. It returns nil if nothing is kept.
func narrow(k **factKind, key string, all *keep, rest []byte) *keep {
	switch {
	case key == "kind":
		*k = factKinds[string(rest)]
		if *k == nil && allLetters(rest) && string(rest) != partialKind {
			*k = outsideFacts
		}
	case key == "spec" && *k != nil:
		return plainSpecs[*k]
	case key == "status" && *k != nil:
		return (*k).status.keep
	case *k != nil && keepBeside.fields[key] != nil:
		if f := (*k).beside.field([]byte(key)); f != nil {
			return f.keep
		}
		return nil
	}
	return all
}

func allLetters(b []byte) bool {
	for _, c := range b {
		if c |= 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return len(b) > 0
}
