package manifest

import (
	"bytes"
	"regexp"
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
	if isUUID.Match(b) || isTime.Match(b) {
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

// isTime matches the form 2006-01-02T15:04:05Z. It can't be a number or another form of a time.
var isTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)
