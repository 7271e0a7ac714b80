package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"unicode/utf8"
)

const (
	bufferSize = 128 << 10
	// firstBuffer is the initial buffer size. It is enough for most files.
	firstBuffer = 16 << 10
	// maxDepth is the maximum nesting, as in encoding/json.
	maxDepth = 10000
	// maxNumber is the maximum length of a number, so that a token never makes the buffer grow with
	// the input.
	maxNumber = 1 << 10
)

// lexer reads JSON from a sliding buffer. It checks that all skipped text is valid JSON and decodes
// only the requested parts.
type lexer struct {
	rd     *reading
	source io.Reader
	buf    []byte
	// buf[pos:end] has not been read yet.
	pos, end int
	// mark is the first byte that must stay in the buffer; -1 for none. whole is the first byte of
	// an object with a requested text; -1 for none. If mayLose is true, that text may be dropped
	// when it gets too long; wholeLost then becomes true.
	mark, whole        int
	mayLose, wholeLost bool
	// ended is true at the end of source; failed is the reason unless it is io.EOF. full is true if
	// the reason is that the buffer would get too large.
	ended, full bool
	failed      error
	// line is the line number of buf[counted].
	line, counted int
	// open are the open brackets at the current position.
	open []byte
	key  []byte
	// held is the size of the kept parts of the current object. unasked is the number of input
	// bytes since the last request for memory.
	held, unasked int
	// free is true if kept parts don't count: the text is in memory already.
	free bool
	// marks are the line numbers of text that was converted to JSON.
	marks []lineMark
}

// lineMark says that the text from offset on comes from line.
type lineMark struct{ offset, line int }

func newLexer(rd *reading, source io.Reader) *lexer {
	return &lexer{rd: rd, source: source, buf: make([]byte, firstBuffer), mark: -1, whole: -1, line: 1}
}

// over makes the lexer read a text that starts at a line.
func (l *lexer) over(text []byte, line int, marks []lineMark) {
	l.buf, l.pos, l.end, l.mark = text, 0, len(text), -1
	l.whole, l.wholeLost = -1, false
	l.ended, l.failed, l.line, l.counted = true, nil, line, 0
	l.open, l.marks, l.held = l.open[:0], marks, 0
}

// fill reads more input after buf[pos:end]. It returns false at the end of the input.
func (l *lexer) fill() bool {
	if l.ended {
		return false
	}
	moved := l.compact()
	if l.end == len(l.buf) && l.whole >= 0 && l.mayLose && len(l.buf) >= l.most() {
		l.whole, l.wholeLost = -1, true
		moved = l.compact()
	}
	if l.end == len(l.buf) || moved && len(l.buf) < bufferSize {
		if err := l.widen(); err != nil {
			l.ended, l.failed = true, err
			return false
		}
	}
	for range 100 {
		n, err := l.source.Read(l.buf[l.end:])
		l.end += n
		if l.unasked += n; l.unasked >= reserveEach && err == nil {
			l.unasked = 0
			err = l.rd.reserve(0)
		}
		if err != nil {
			l.ended = true
			if !errors.Is(err, io.EOF) {
				l.failed = err
			}
		}
		if n > 0 || l.ended {
			return n > 0
		}
	}
	l.ended, l.failed = true, io.ErrNoProgress
	return false
}

// widen enlarges the buffer if the bytes that must stay fill it.
func (l *lexer) widen() error {
	most := l.most()
	size := min(2*len(l.buf), most)
	if size <= len(l.buf) {
		l.full = true
		return AboveLimit(most, "one value or line")
	}
	if size > 1<<20 {
		if err := l.rd.reserve(size); err != nil {
			return err
		}
	}
	wide := make([]byte, size)
	copy(wide, l.buf[:l.end])
	l.buf = wide
	return nil
}

// most returns the maximum size of the buffer.
func (l *lexer) most() int { return max(l.rd.limits.ValueBytes, bufferSize) }

// compact moves the bytes that must stay to the beginning of the buffer, and reports whether that
// made room.
func (l *lexer) compact() bool {
	keep := l.pos
	for _, stays := range []int{l.mark, l.whole} {
		if stays >= 0 {
			keep = min(keep, stays)
		}
	}
	if keep == 0 {
		return false
	}
	l.count(keep)
	copy(l.buf, l.buf[keep:l.end])
	l.pos, l.end, l.counted = l.pos-keep, l.end-keep, l.counted-keep
	if l.mark >= 0 {
		l.mark -= keep
	}
	if l.whole >= 0 {
		l.whole -= keep
	}
	return true
}

// count advances the line count to an offset.
func (l *lexer) count(offset int) {
	if offset > l.counted {
		l.line += bytes.Count(l.buf[l.counted:offset], newline)
		l.counted = offset
	}
}

var newline = []byte{'\n'}

// here returns the line of the current position.
func (l *lexer) here() int {
	if len(l.marks) > 0 {
		i := sort.Search(len(l.marks), func(i int) bool { return l.marks[i].offset > l.pos })
		return l.marks[max(i-1, 0)].line
	}
	l.count(l.pos)
	return l.line
}

// wrong returns a Problem at the current position.
func (l *lexer) wrong(format string, args ...any) error {
	return l.rd.problem(l.here(), fmt.Sprintf(format, args...), nil)
}

// unexpected returns the Problem that something other than wanted is at the current position,
// possibly the end of the input.
func (l *lexer) unexpected(wanted string) error {
	if l.pos < l.end {
		return l.wrong("%s is expected here, not %s", wanted, quoteStart(l.buf[l.pos:l.end]))
	}
	if errors.Is(l.failed, ErrLimit) {
		return l.above(l.failed)
	}
	if l.failed != nil {
		return l.rd.problem(l.here(), "reading ends early: "+l.failed.Error(), l.failed)
	}
	return l.rd.problem(l.here(), ErrTruncated.Error(), ErrTruncated)
}

// quoteStart returns the first character of b, in quotes.
func quoteStart(b []byte) string {
	r, size := utf8.DecodeRune(b)
	if r == utf8.RuneError && size <= 1 {
		return fmt.Sprintf("byte 0x%02x", b[0])
	}
	return fmt.Sprintf("%q", r)
}

// token moves to the next byte that is not white space and returns it without consuming it: 0 at
// the end of the input.
func (l *lexer) token() byte {
	if l.pos < l.end && l.buf[l.pos] > ' ' {
		return l.buf[l.pos]
	}
	return l.pastBlanks()
}

// pastBlanks implements token for a position before white space.
func (l *lexer) pastBlanks() byte {
	for {
		for i, c := range l.buf[l.pos:l.end] {
			if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
				l.pos += i
				return c
			}
		}
		l.pos = l.end
		if !l.fill() {
			return 0
		}
	}
}

// PlainRun returns the length of the prefix of b that needs no escapes in a JSON string: ASCII
// without control characters, quotes and backslashes.
func PlainRun(b []byte) int {
	for i, c := range b {
		if c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return i
		}
	}
	return len(b)
}

// skipString skips the string at the current position.
func (l *lexer) skipString() error {
	l.pos++
	for {
		l.pos += PlainRun(l.buf[l.pos:l.end])
		if l.pos < l.end && l.buf[l.pos] == '"' {
			l.pos++
			return nil
		}
		if _, err := l.special(); err != nil {
			return err
		}
	}
}

// appendString appends the decoded string at the current position to dst.
func (l *lexer) appendString(dst []byte) ([]byte, error) {
	l.pos++
	for {
		n := PlainRun(l.buf[l.pos:l.end])
		dst = append(dst, l.buf[l.pos:l.pos+n]...)
		l.pos += n
		if len(dst) > l.rd.limits.ObjectBytes {
			return nil, l.above(AboveLimit(l.rd.limits.ObjectBytes, "what is kept of one object"))
		}
		if l.pos < l.end && l.buf[l.pos] == '"' {
			l.pos++
			return dst, nil
		}
		r, err := l.special()
		if err != nil {
			return nil, err
		}
		if r >= 0 {
			if r == 0 {
				return nil, l.wrong("a string has a NUL character")
			}
			dst = utf8.AppendRune(dst, r)
		}
	}
}

// special reads a character at which PlainRun stops within a string: an escape or a non-ASCII
// character. It returns -1 if it only read more input.
func (l *lexer) special() (rune, error) {
	const longest = len(`\ud800\udc00`)
	if l.end-l.pos < longest && l.fill() {
		return -1, nil
	}
	b := l.buf[l.pos:l.end]
	if len(b) == 0 {
		return 0, l.unexpected("the end of a string")
	}
	switch {
	case b[0] == '\\':
		r, n := unescape(b)
		if n == 0 {
			if len(b) < longest && !bytes.ContainsAny(b, "\"\n") {
				l.pos = l.end
				return 0, l.unexpected("the end of a string")
			}
			return 0, l.wrong("a string has an escape that JSON does not know")
		}
		l.pos += n
		return r, nil
	case b[0] < ' ':
		return 0, l.wrong("a string has the control character 0x%02x", b[0])
	case b[0] == '"' || b[0] < utf8.RuneSelf:
		return -1, nil
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n <= 1 {
		if !utf8.FullRune(b) {
			l.pos = l.end
			return 0, l.unexpected("the end of a string")
		}
		return 0, l.wrong("a string is not valid UTF-8")
	}
	l.pos += n
	return r, nil
}

// unescape decodes the escape at the start of b. It returns length 0 if it is invalid; half a
// surrogate pair is.
func unescape(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hex4(b[2:])
		switch {
		case r < 0 || r >= 0xdc00 && r < 0xe000:
			return 0, 0
		case r < 0xd800 || r >= 0xe000:
			return r, 6
		}
		if len(b) < 12 || b[6] != '\\' || b[7] != 'u' {
			return 0, 0
		}
		low := hex4(b[8:])
		if low < 0xdc00 || low >= 0xe000 {
			return 0, 0
		}
		return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), 12
	}
	return 0, 0
}

// hex4 returns the value of four hexadecimal digits; -1 if they are invalid.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 + rune(c)
	}
	return r
}
