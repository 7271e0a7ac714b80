// Package manifest reads Kubernetes objects from JSON and YAML, in every form that kubectl and
// similar tools write, and from protobuf, in responses of an API server and in its storage. It
// streams: memory grows with the number of objects, not with the size of the input, and it keeps
// only what deletion needs (see object.Object). Transient memory has Limits.
//
// It reads protobuf without the Go types of a kind: the metadata, which has the same field number
// in every kind, and the fields that the deletion of pods and volumes depends on.
//
// It knows nothing about files, archives or clusters; package snapshot does.
package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Position is a position in an input.
type Position struct {
	// File is the name of the input as the user knows it.
	File string
	// Document is the number of the document in the input, from 1.
	Document int
	// Line is the line number, from 1; 0 if unknown.
	Line int
}

// String returns "file: document 2: line 17" without unknown parts.
func (p Position) String() string {
	s := p.File
	if p.Document > 0 {
		s += fmt.Sprintf(": document %d", p.Document)
	}
	if p.Line > 0 {
		s += fmt.Sprintf(": line %d", p.Line)
	}
	return s
}

// ErrTruncated is in the error chain if an input ends in the middle of a document.
var ErrTruncated = errors.New("the input ends in the middle of a document")

// Problem is an error of the input with its position.
type Problem struct {
	Position
	Message string
	// Err is the cause, if any (ErrTruncated among others).
	Err error
}

// Error returns "file: document 2: line 17: message".
func (p *Problem) Error() string { return p.Position.String() + ": " + p.Message }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// List is a list in the input. An empty list of a named kind proves that there are no objects of
// the kind.
type List struct {
	Position
	// APIVersion and Kind of the list as written, such as "v1" and "PodList". Both are empty for a
	// bare JSON array and for a JSON list without a kind, like the flattened lists of kubectl 1.13
	// and older, unless Options.Linked knows their selfLink.
	APIVersion, Kind string
	// Items is the number of items read.
	Items int
	// Partial is true if the list is one page of several (metadata.continue is not empty).
	Partial bool
	// Open is true if the input ends with the entries of a bare YAML list, or in the middle of a
	// line of a list: a truncation there would be undetectable.
	Open bool
	// Continue and ResourceVersion are those of metadata: the token for the next page, and the
	// version of the list.
	Continue, ResourceVersion string
}

// Handler receives the results of a Read, in the order of the input. An error of a callback ends
// the Read and is returned unchanged. Nil callbacks are skipped.
type Handler struct {
	// Object is called for each object. inList is true for an item of a list. The handler may keep
	// the object.
	Object func(o *object.Object, inList bool, at Position) error
	// List is called at the end of each list, after its items.
	List func(List) error
	// Raw is called some time after Object with the parts that Wants requests of an object's JSON
	// text, or with all of it without Wants; not for objects for which Wants returns nil. The text
	// is valid until it returns, and empty if it isn't available. With Raw, memory grows with the
	// largest of these objects, and with a list that has its kind last.
	Wants func(o *object.Object) *Fields
	Raw   func(o *object.Object, text []byte) error
	// Moment is called with a time, in seconds since 1970, at which an Event, a Lease or a Node was
	// written.
	Moment func(seconds int64)
	// Kubelet is called with the kubelet's version in a Node.
	Kubelet func(version string)
	// Foreign is called for a document that is no Kubernetes object, such as a JSON value without
	// apiVersion, kind or name; what is the reason. Without Foreign, a document with some of these
	// fields is a Problem.
	Foreign func(at Position, what string) error
}

// Options configure a Read.
type Options struct {
	// File is the name of the input in positions.
	File string
	// APIVersion, Kind and Namespace apply to items without their own, for example by a file name
	// or a path. Empty: such an item is a Problem unless its list has the kind.
	APIVersion, Kind, Namespace string
	// Linked returns the apiVersion and kind of the objects at a path of the API, such as
	// /api/v1/namespaces/shop/pods; both are empty for an unknown one. It is called with the
	// selfLink of flattened lists if Kind is empty. It may be nil.
	Linked func(path string) (apiVersion, kind string)
	// SkipText skips text between documents that is not JSON: `kubectl cluster-info dump` writes
	// log lines there.
	SkipText bool
	// Interner shares repeated strings between several reads; nil for a new one.
	Interner *Interner
	// Limits bound the memory of the Read.
	Limits Limits
}

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
	rd.decodeHelm = func(written io.Reader) (*object.HelmReleaseFacts, error) { return decodeHelm(written, rd.limits) }
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
	for {
		more, err := rd.documentYAML(l)
		if err != nil || !more {
			return err
		}
	}
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

// documentJSON reads one document. With SkipText, an invalid value is skipped as text unless a
// field of an object has been read: `{"level": info}` is a log line, not a broken object.
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

// Texts reads JSON texts one after the other, each like Read, and reuses its buffers.
type Texts struct {
	rd    *reading
	lexer lexer
}

// NewTexts returns a Texts for one handler.
func NewTexts(o Options, h Handler) *Texts {
	t := &Texts{rd: newReading(o, h)}
	t.lexer.rd = t.rd
	return t
}

// Read reads one text.
func (t *Texts) Read(text []byte) error {
	t.rd.document = 0
	t.lexer.over(text, 1, nil)
	return stopped(t.rd.readJSON(&t.lexer))
}

// The lines that `kubectl cluster-info dump` writes around the log of a container.
//
// Upstream: kubectl/pkg/cmd/clusterinfo/clusterinfo_dump.go ClusterInfoDumpOptions.Run.
var (
	logStart = []byte("==== START logs for container ")
	logEnd   = []byte("==== END logs for container ")
)

// skipText skips lines of text and whole logs, up to a line that starts like JSON.
func (rd *reading) skipText(l *lexer) error {
	for {
		for l.end-l.pos < len(logStart) && l.fill() {
		}
		switch line := l.buf[l.pos:l.end]; {
		case len(line) == 0:
			return nil
		case line[0] == '{' || line[0] == '[':
			return nil
		case bytes.HasPrefix(line, logStart):
			if err := rd.skipLog(l); err != nil {
				return err
			}
		default:
			l.skipLine()
		}
	}
}

// skipLog skips the log at the current position. Its end marker may follow a last line without a
// newline.
func (rd *reading) skipLog(l *lexer) error {
	line := l.here()
	l.mark = l.pos
	l.skipLine()
	if l.failed != nil {
		return l.unexpected("the end of a line")
	}
	end := append([]byte(nil), logEnd...)
	end = append(end, bytes.TrimRight(l.buf[l.mark+len(logStart):l.pos], "\r\n")...)
	l.mark = -1
	for {
		if i := bytes.Index(l.buf[l.pos:l.end], end); i >= 0 {
			l.pos += i
			l.skipLine()
			return nil
		}
		l.pos = max(l.pos, l.end-len(end)+1)
		if !l.fill() {
			break
		}
	}
	if l.failed != nil {
		l.pos = l.end
		return l.unexpected("the end of a log")
	}
	return rd.problem(line, "the input ends in the middle of a log", ErrTruncated)
}

// skipLine skips the rest of a line.
func (l *lexer) skipLine() {
	for {
		if i := bytes.IndexByte(l.buf[l.pos:l.end], '\n'); i >= 0 {
			l.pos += i + 1
			return
		}
		l.pos = l.end
		if !l.fill() {
			return
		}
	}
}
