package manifest

import (
	"bytes"
	"unicode/utf8"
)

// indentOf returns the number of leading spaces of b.
func indentOf(b []byte) int { return len(b) - len(bytes.TrimLeft(b, " ")) }

// isDash reports whether b starts an entry of a list.
func isDash(b []byte) bool { return b[0] == '-' && (len(b) == 1 || b[1] == ' ') }

// printable reports whether b has only ASCII without control characters, and other characters that
// are no line breaks in YAML.
func printable(b []byte) bool {
	for len(b) > 0 {
		if c := b[0]; c < utf8.RuneSelf {
			if c < ' ' || c == 0x7f {
				return false
			}
			b = b[1:]
			continue
		}
		r, n := utf8.DecodeRune(b)
		if r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == utf8.RuneError || r == 0xfffe || r == 0xffff {
			return false
		}
		b = b[n:]
	}
	return true
}

// keyEnd returns the length of the plain key at the start of b; 0 if there is none or it isn't
// simple.
func keyEnd(b []byte) int {
	c := b[0]
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == '/', c == '$', c == '(', c == '^':
	default:
		return 0
	}
	const longest = 1000
	from := 0
	for {
		i := bytes.IndexByte(b[from:min(len(b), longest)], ':')
		if i < 0 {
			return 0
		}
		end := from + i
		if end+1 == len(b) || b[end+1] == ' ' {
			if b[end-1] == ' ' || bytes.IndexByte(b[:end], '#') >= 0 {
				return 0
			}
			return end
		}
		from = end + 1
	}
}

// startsPlain reports whether a plain scalar certainly can start like b.
func startsPlain(b []byte) bool {
	switch c := b[0]; c {
	case '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', '=', '<', '~':
		return false
	case '-':
		return len(b) > 1 && b[1] != ' '
	}
	return true
}

// insidePlain reports whether b has no character that ends a plain scalar.
func insidePlain(b []byte) bool {
	for rest := b; ; {
		i := bytes.IndexByte(rest, ':')
		if i < 0 {
			break
		}
		if i+1 == len(rest) || rest[i+1] == ' ' {
			return false
		}
		rest = rest[i+1:]
	}
	for rest := b; ; {
		i := bytes.IndexByte(rest, '#')
		if i < 0 {
			return true
		}
		if i > 0 && rest[i-1] == ' ' {
			return false
		}
		rest = rest[i+1:]
		if len(rest) > 0 && rest[0] == '#' {
			return false
		}
	}
}

// continuesPlain reports whether b continues a plain scalar. It may start with most characters that
// a scalar can't start with.
func continuesPlain(b []byte) bool {
	b = bytes.TrimRight(b, " ")
	switch b[0] {
	case '#', '-', '?', ':':
		return false
	}
	return insidePlain(b)
}

// startQuoted reads the first line of a quoted scalar.
func (s *scan) startQuoted(b []byte, at int, k *keep) bool {
	quote := b[0]
	body := b[1:]
	end, ok := closing(body, quote)
	switch {
	case !ok || end >= 0 && end+1 != len(body):
		return false
	case end < 0:
		s.quote, s.quoteAt, s.quoteKept, s.gap = quote, at, k != nil, false
		end = len(body)
	}
	if k == nil {
		return true
	}
	s.c.out = append(s.c.out, '"', '"')
	return s.addQuoted(body[:end], quote)
}

// quoted reads another line of a quoted scalar.
func (s *scan) quoted(b []byte) bool {
	b = bytes.TrimRight(b, " ")
	quote := s.quote
	end, ok := closing(b, quote)
	if end >= 0 {
		s.quote = 0
		ok = ok && end+1 == len(b)
		b = b[:end]
	}
	if !ok || !s.quoteKept {
		return ok
	}
	return s.breakLine() && s.addQuoted(b, quote)
}

// breakLine appends a blank, for a line break, to the last string in the output.
func (s *scan) breakLine() bool {
	last := len(s.c.out) - 1
	if s.gap || s.c.out[last] != '"' {
		return false
	}
	s.c.out = append(s.c.out[:last], ' ', '"')
	return true
}

// add appends text to the last string in the output.
func (s *scan) add(b []byte) {
	last := len(s.c.out) - 1
	s.c.out = appendText(s.c.out[:last], b)
	s.c.out = append(s.c.out, '"')
}

// addQuoted appends the content of quotes to the last string in the output. It returns false for
// escapes that JSON doesn't have.
func (s *scan) addQuoted(body []byte, quote byte) bool {
	switch {
	case quote == '\'':
		if bytes.IndexByte(body, '\'') >= 0 {
			body = bytes.ReplaceAll(body, []byte("''"), []byte("'"))
		}
		s.add(body)
		return true
	case bytes.IndexByte(body, '\\') < 0:
		s.add(body)
		return true
	}
	for i := 0; i < len(body); i++ {
		if body[i] == '\\' {
			if i++; i == len(body) || bytes.IndexByte([]byte(`"\/bfnrtu`), body[i]) < 0 {
				return false
			}
		}
	}
	last := len(s.c.out) - 1
	s.c.out = append(append(s.c.out[:last], body...), '"')
	return true
}

// closing finds the closing quote; -1 if it is not in b. ok is false for an escape that isn't
// certainly valid.
func closing(b []byte, quote byte) (end int, ok bool) {
	if quote == '\'' {
		for i := 0; ; i += 2 {
			n := bytes.IndexByte(b[i:], '\'')
			if n < 0 {
				return -1, true
			}
			if i += n; i+1 == len(b) || b[i+1] != '\'' {
				return i, true
			}
		}
	}
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i, true
		case '\\':
			n := escapeLength(b[i+1:])
			if n < 0 {
				return -1, false
			}
			i += n
		}
	}
	return -1, true
}

// escapeLength returns the length of the text after a backslash in double quotes; 0 at the end of
// the line, -1 if it isn't certainly valid.
func escapeLength(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case 'n', 't', 'r', '"', '\\', '0', 'a', 'b', 'e', 'f', 'v', ' ', '/':
		return 1
	case 'u':
		if r := hex4(b[1:]); r >= 0 && (r < 0xd800 || r >= 0xe000) {
			return 5
		}
	}
	return -1
}

// startBlock begins a literal or folded scalar. Only literal ones are kept, and only if the end of
// their last line is certain.
func (s *scan) startBlock(b []byte, at int, k *keep) bool {
	if k != nil && (b[0] != '|' || !s.whole) {
		return false
	}
	if !s.block.start(b, at) {
		return false
	}
	if k != nil {
		s.block.kept = true
		s.c.out = append(s.c.out, '"', '"')
	}
	return true
}

// literal appends a line with n leading spaces to the kept literal scalar.
func (s *scan) literal(b []byte, n int) bool {
	if n == len(b) {
		s.block.breaks++
		return s.block.indent == 0 || n <= s.block.indent
	}
	for range s.block.breaks {
		s.add(newline)
	}
	s.block.breaks = 1
	s.block.text = true
	s.add(b[s.block.indent:])
	return true
}

// endBlock ends the open literal or folded scalar.
func (s *scan) endBlock() {
	if b := &s.block; b.kept {
		switch {
		case b.chomp == '-' || b.chomp == 0 && !b.text:
			b.breaks = 0
		case b.chomp == 0:
			b.breaks = min(b.breaks, 1)
		}
		for range b.breaks {
			s.add(newline)
		}
	}
	s.block = blockScalar{}
}

// start begins a literal or folded scalar with header b in a mapping or list at column at.
func (s *blockScalar) start(b []byte, at int) bool {
	*s = blockScalar{on: true, least: at + 1}
	for _, c := range b[1:] {
		switch {
		case (c == '-' || c == '+') && s.chomp == 0:
			s.chomp = c
		case c >= '1' && c <= '9' && s.indent == 0:
			s.indent = at + int(c-'0')
		default:
			return false
		}
	}
	return true
}

// take consumes a line with n leading spaces if it is inside the scalar.
func (s *blockScalar) take(b []byte, n int) (inside, ok bool) {
	if n == len(b) {
		if s.indent == 0 {
			s.blank = max(s.blank, n)
		}
		return true, true
	}
	if s.indent == 0 && n >= s.least {
		if s.indent = n; s.blank > n || b[n] == '\t' {
			return true, false
		}
	}
	if s.indent > 0 && n >= s.indent {
		b = b[n:]
		for {
			i := bytes.IndexByte(b, '\t')
			if i < 0 {
				return true, printable(b)
			}
			if !printable(b[:i]) {
				return true, false
			}
			b = b[i+1:]
		}
	}
	s.on = false
	return false, s.indent > 0 || s.blank < s.least
}
