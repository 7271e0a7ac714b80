package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"
)

const (
	// longest bounds a single string or number of a log, in bytes. An object has at most a few MiB.
	longest = 16 << 20
	// most bounds the number of recorded requests.
	most = 500_000
)

// Window is the requested range of time, in microseconds since 1970. A zero is an open end.
type Window struct{ From, To int64 }

func (w Window) has(received, answered int64) bool {
	return (w.From == 0 || answered >= w.From) && (w.To == 0 || received <= w.To)
}

// Read adds the deletes and evictions of a log that were carried out within the window. The log is
// a sequence of JSON Events of audit.k8s.io, or of EventLists, as they are sent to a webhook. It
// may be gzipped. name is for errors, which also have the line.
func (l *Log) Read(name string, in io.Reader, w Window) error {
	text := bufio.NewReaderSize(in, 1<<16)
	if magic, _ := text.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		text = bufio.NewReaderSize(z, 1<<16)
	}
	if l.texts == nil {
		l.texts, l.seen = map[string]string{}, map[key]bool{}
	}
	r := newReader(text, l, w)
	switch err := r.documents(); {
	case r.cutOff(err):
		l.Cut = append(l.Cut, name)
	case err != nil:
		return fmt.Errorf("%s, line %d: %w", name, r.line(err), plain(err))
	}
	slices.SortStableFunc(l.Requests, func(a, b Request) int {
		return cmp.Or(cmp.Compare(a.Received, b.Received), cmp.Compare(a.Answered, b.Answered), strings.Compare(a.ID, b.ID))
	})
	return nil
}

// reader reads one log.
type reader struct {
	input  *input
	dec    *jsontext.Decoder
	log    *Log
	window Window
	// events is the number of events that were read.
	events int
}

func newReader(in io.Reader, l *Log, w Window) *reader {
	r := &reader{input: &input{in: in}, log: l, window: w}
	r.dec = jsontext.NewDecoder(r.input, jsontext.AllowDuplicateNames(true))
	r.input.taken = r.dec.InputOffset
	return r
}

// documents reads all documents of the log.
func (r *reader) documents() error {
	for {
		switch kind := r.dec.PeekKind(); kind {
		case jsontext.KindBeginObject:
		case jsontext.KindInvalid:
			_, err := r.dec.ReadToken()
			if errors.Is(err, io.EOF) && r.input.failed == nil {
				return nil
			}
			return err
		default:
			return fmt.Errorf("this is %s, not an audit event", kindText(kind))
		}
		if err := r.document(); err != nil {
			return err
		}
	}
}

// cutOff reports whether an error means that the log ends within its last event, after complete
// ones.
func (r *reader) cutOff(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) && r.input.failed == nil && r.events > 0 && r.dec.StackDepth() > 0
}

// line returns the number of the line that an error is about.
func (r *reader) line(err error) int {
	ahead := r.dec.UnreadBuffer()
	if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
		ahead = ahead[min(len(ahead), int(max(0, syntax.ByteOffset-r.dec.InputOffset()))):]
	}
	return 1 + r.input.ends - bytes.Count(ahead, []byte("\n"))
}

// plain returns an error without its byte offset, which the line number replaces.
func plain(err error) error {
	if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("this is not JSON: %w", syntax.Err)
	}
	return err
}

// add records a request, unless another log had it.
func (r *reader) add(q Request, uri string) error {
	k := key{q.ID, uri, q.Received}
	if r.log.seen[k] {
		return nil
	}
	if len(r.log.Requests) >= most {
		return fmt.Errorf("more than %d deletes in the time asked about: ask for less, with --since", most)
	}
	r.log.seen[k] = true
	r.log.Requests = append(r.log.Requests, q)
	return nil
}

// once returns the shared copy of a string that many requests have.
func (l *Log) once(text string) string {
	if s, ok := l.texts[text]; ok {
		return s
	}
	l.texts[text] = text
	return text
}

// input counts the lines that are read, and limits the bytes that are buffered.
type input struct {
	in io.Reader
	// taken returns the number of parsed bytes. read is the number of bytes read, and ends the
	// number of line ends.
	taken  func() int64
	read   int64
	ends   int
	failed error
}

func (i *input) Read(p []byte) (int, error) {
	if i.read-i.taken() > longest {
		i.failed = fmt.Errorf("a text of more than %d MiB", longest>>20)
		return 0, i.failed
	}
	n, err := i.in.Read(p)
	i.read += int64(n)
	i.ends += bytes.Count(p[:n], []byte("\n"))
	if err != nil && !errors.Is(err, io.EOF) {
		i.failed = err
	}
	return n, err
}
