package snapshot

import "github.com/kubectl-gc/kubectl-gc/internal/manifest"

// plainLine is a parser for lines as this program writes them: without white space, members in the
// order of the structs, each once, strings without escapes. Any other line, well-formed or not,
// sets odd. Results of an odd line are meaningless.
type plainLine struct {
	rest []byte
	// inside is true after a member or element within the same brackets.
	inside, odd bool
}

// enter skips an opening bracket.
func (l *plainLine) enter(bracket byte) {
	if len(l.rest) == 0 || l.rest[0] != bracket {
		l.odd = true
		return
	}
	l.rest, l.inside = l.rest[1:], false
}

// leave skips a closing bracket.
func (l *plainLine) leave(bracket byte) {
	l.enter(bracket)
	l.inside = true
}

// member moves to the value of the next member and returns true if it has the key, which is given
// with quotes and colon.
func (l *plainLine) member(key string) bool {
	rest := l.rest
	if l.inside {
		if len(rest) == 0 || rest[0] != ',' {
			return false
		}
		rest = rest[1:]
	}
	if len(rest) < len(key) || string(rest[:len(key)]) != key {
		return false
	}
	l.rest, l.inside = rest[len(key):], true
	return true
}

// element moves to the next element of a list. It returns false, and skips the closing bracket, if
// there is none.
func (l *plainLine) element() bool {
	switch {
	case l.odd || len(l.rest) == 0:
		l.odd = true
		return false
	case l.rest[0] == ']':
		l.leave(']')
		return false
	case !l.inside:
		l.inside = true
		return true
	case l.rest[0] == ',':
		l.rest = l.rest[1:]
		return true
	}
	l.odd = true
	return false
}

// text reads a string.
func (l *plainLine) text() []byte {
	if len(l.rest) == 0 || l.rest[0] != '"' {
		l.odd = true
		return nil
	}
	n := manifest.PlainRun(l.rest[1:])
	text := l.rest[1 : 1+n]
	l.rest = l.rest[1+n:]
	if len(l.rest) == 0 || l.rest[0] != '"' {
		l.odd = true
		return nil
	}
	l.rest = l.rest[1:]
	return text
}

// mostDigits is the number of decimal digits that always fit into 64 bits.
const mostDigits = 18

// number reads a number up to most.
func (l *plainLine) number(most int64) int64 {
	rest := l.rest
	negative := len(rest) > 0 && rest[0] == '-'
	if negative {
		rest = rest[1:]
	}
	n, value := 0, int64(0)
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' && n <= mostDigits {
		value = value*10 + int64(rest[n]-'0')
		n++
	}
	if n == 0 || n > mostDigits || rest[0] == '0' && (n > 1 || negative) || value > most {
		l.odd = true
		return 0
	}
	l.rest = rest[n:]
	if negative {
		return -value
	}
	return value
}

// size reads a non-negative number.
func (l *plainLine) size(most int64) int64 {
	n := l.number(most)
	l.odd = l.odd || n < 0
	return n
}

// yes reads the value of a member that is written only if it is true.
func (l *plainLine) yes() bool {
	const value = "true"
	if len(l.rest) < len(value) || string(l.rest[:len(value)]) != value {
		l.odd = true
		return false
	}
	l.rest = l.rest[len(value):]
	return true
}
