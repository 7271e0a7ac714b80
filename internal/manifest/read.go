package manifest

import (
	"bytes"
	"errors"
	"io"
)

// Read reads the objects in r and passes them to h. It recognises JSON and YAML by content. Invalid
// input ends it with a Problem; the objects passed on before are valid, but incomplete.
func Read(r io.Reader, o Options, h Handler) error {
	return newReading(o, h).run(r)
}

func newReading(o Options, h Handler) *reading {
	rd := &reading{o: o, h: h, in: o.Interner, limits: o.Limits.withDefaults()}
	if rd.in == nil {
		rd.in = NewInterner()
	}
	return rd
}

func (rd *reading) run(r io.Reader) error {
	return stopped(rd.read(newLexer(rd, r)))
}

// stopped unwraps the error of a handler.
func stopped(err error) error {
	if refused, ok := errors.AsType[refusal](err); ok {
		return refused.error
	}
	return err
}

func (rd *reading) read(l *lexer) error {
	for l.end < sniffed && l.fill() {
	}
	start := l.buf[:l.end]
	if name := wideEncoding(start); name != "" {
		return rd.problem(0, "the text is "+name+"; only UTF-8 is read", nil)
	}
	if bytes.HasPrefix(start, byteOrderMark) {
		l.pos = len(byteOrderMark)
		l.counted = l.pos
	}
	if isJSON(l.buf[l.pos:l.end], rd.o.SkipText) {
		return rd.readJSON(l)
	}
	return rd.readYAML(l)
}

// sniffed is the number of bytes that are inspected to recognise the format.
const sniffed = 64 << 10

var byteOrderMark = []byte("\xef\xbb\xbf")

// wideEncoding returns the name of a UTF-16 or UTF-32 encoding, "" for any other text.
func wideEncoding(start []byte) string {
	switch {
	case bytes.HasPrefix(start, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(start, []byte("\x00\x00\xfe\xff")):
		return "UTF-32"
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return "UTF-16"
	case len(start) >= 4 && (start[0] == 0 && start[1] == 0 && start[2] == 0 || start[1] == 0 && start[2] == 0 && start[3] == 0):
		return "UTF-32"
	case len(start) >= 2 && (start[0] == 0) != (start[1] == 0):
		return "UTF-16"
	}
	return ""
}

// isJSON reports whether a text that begins with start is JSON. YAML may begin with a bracket too,
// but rarely with what follows it in JSON.
func isJSON(start []byte, skipText bool) bool {
	if opensJSON(start) {
		return true
	}
	if skipText && len(start) >= sniffed && bytes.IndexByte(start, '\n') < 0 {
		return true // YAML doesn't begin with such a line
	}
	for skipText {
		i := bytes.IndexByte(start, '\n')
		if i < 0 {
			return false
		}
		if start = start[i+1:]; bytes.HasPrefix(start, logStart) || opensJSON(start) {
			return true
		}
	}
	return false
}

// opensJSON reports whether text begins like a JSON object or array.
func opensJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 {
		return false
	}
	inside := bytes.TrimLeft(text[1:], " \t\r\n")
	switch text[0] {
	case '{':
		return len(inside) == 0 || inside[0] == '"' || inside[0] == '}'
	case '[':
		return len(inside) == 0 || bytes.IndexByte([]byte(`{["]-0123456789`), inside[0]) >= 0
	}
	return false
}

// readJSON reads JSON documents, one after the other.
func (rd *reading) readJSON(l *lexer) error {
	for {
		c := l.token()
		if l.pos == l.end {
			if l.failed != nil {
				return l.unexpected("a document")
			}
			return nil
		}
		if c == '-' && rd.separator(l) {
			continue
		}
		if rd.o.SkipText && c != '{' && c != '[' {
			if err := rd.skipText(l); err != nil {
				return err
			}
			continue
		}
		if err := rd.documentJSON(l); err != nil {
			return err
		}
	}
}

// documentJSON reads one document. With SkipText, a value that proves invalid before it has a field
// of an object is skipped as text.
func (rd *reading) documentJSON(l *lexer) error {
	rd.document++
	rd.recognised = false
	l.open = l.open[:0]
	handed := rd.handed
	err := rd.value(l, nil)
	if err == nil || !rd.o.SkipText || rd.recognised || rd.handed != handed || !isProblem(err) {
		return err
	}
	if errors.Is(err, ErrTruncated) || l.failed != nil {
		return err
	}
	rd.document--
	l.mark, l.whole = -1, -1
	l.skipLine()
	return rd.skipText(l)
}

func isProblem(err error) bool {
	_, ok := errors.AsType[*Problem](err)
	return ok
}

// separator skips a line that separates YAML documents, which some writers also put between JSON
// documents.
func (rd *reading) separator(l *lexer) bool {
	for l.end-l.pos < 4 && l.fill() {
	}
	line := l.buf[l.pos:l.end]
	if !bytes.HasPrefix(line, []byte("---")) || len(line) > 3 && line[3] > ' ' {
		return false
	}
	l.pos += 3
	return true
}
