package cel

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

var errSyntax = errors.New("unsupported syntax")

type tokenKind uint8

const (
	endToken tokenKind = iota
	identifierToken
	numberToken
	stringToken
	symbolToken
)

// token is an identifier, a number, a string or a symbol of an expression.
type token struct {
	kind tokenKind
	// text is the token as written. For a string, it is the value, without quotes and escapes.
	text string
}

// symbols are the operators and delimiters. nextToken takes the first match, so longer ones come
// first.
var symbols = []string{
	"&&", "||", "==", "!=", "<=", ">=",
	"!", "<", ">", "?", ":", ".", ",", "(", ")", "[", "]", "{", "}", "+", "-", "*", "/", "%",
}

// tokenize splits an expression into tokens. The last one is of kind endToken. Comments are
// skipped.
func tokenize(s string) ([]token, error) {
	var tokens []token
	for {
		s = strings.TrimLeft(s, " \t\r\n\f")
		if strings.HasPrefix(s, "//") {
			_, s, _ = strings.Cut(s, "\n")
			continue
		}
		if s == "" {
			return append(tokens, token{}), nil
		}
		t, rest, err := nextToken(s)
		if err != nil {
			return nil, err
		}
		tokens, s = append(tokens, t), rest
	}
}

// nextToken returns the first token of s and the rest of s.
func nextToken(s string) (token, string, error) {
	switch c := s[0]; {
	case c == '"' || c == '\'':
		return scanString(s, false)
	case (c == 'r' || c == 'R') && len(s) > 1 && (s[1] == '"' || s[1] == '\''):
		return scanString(s[1:], true)
	case c >= '0' && c <= '9':
		n := prefixLength(s, func(c byte) bool { return isWord(c) || c == '.' })
		return token{numberToken, s[:n]}, s[n:], nil
	case isWord(c):
		n := prefixLength(s, isWord)
		return token{identifierToken, s[:n]}, s[n:], nil
	}
	for _, x := range symbols {
		if strings.HasPrefix(s, x) {
			return token{symbolToken, x}, s[len(x):], nil
		}
	}
	return token{}, "", errSyntax
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// prefixLength returns the length of the longest prefix of s with only bytes that satisfy is.
func prefixLength(s string, is func(byte) bool) int {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

// scanString reads a string that begins with one quote or three. A raw one has no escape sequences.
func scanString(s string, raw bool) (token, string, error) {
	quote := s[:1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(s, long) {
		quote = long
	}
	s = s[len(quote):]
	var b strings.Builder
	for s != "" {
		switch {
		case strings.HasPrefix(s, quote):
			return token{stringToken, b.String()}, s[len(quote):], nil
		case len(quote) == 1 && (s[0] == '\n' || s[0] == '\r'):
			return token{}, "", errSyntax
		case s[0] != '\\' || raw:
			_, n := utf8.DecodeRuneInString(s)
			b.WriteString(s[:n])
			s = s[n:]
		default:
			n, err := unescape(&b, s)
			if err != nil {
				return token{}, "", err
			}
			s = s[n:]
		}
	}
	return token{}, "", errSyntax
}

// escapes are the characters that a backslash and one character stand for.
var escapes = map[byte]rune{
	'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
	'\\': '\\', '"': '"', '\'': '\'', '`': '`', '?': '?',
}

// unescape writes the character of an escape sequence, and returns how long that is.
func unescape(b *strings.Builder, s string) (int, error) {
	if len(s) < 2 {
		return 0, errSyntax
	}
	if r, ok := escapes[s[1]]; ok {
		b.WriteRune(r)
		return 2, nil
	}
	begin, size, base := 2, map[byte]int{'x': 2, 'X': 2, 'u': 4, 'U': 8}[s[1]], 16
	if size == 0 {
		begin, size, base = 1, 3, 8
	}
	if len(s) < begin+size {
		return 0, errSyntax
	}
	n, err := strconv.ParseUint(s[begin:begin+size], base, 32)
	if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return 0, errSyntax
	}
	b.WriteRune(rune(n))
	return begin + size, nil
}
