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
	// longest bounds a single text or number of a log, in bytes. An object has at most a few MiB.
	longest = 16 << 20
	// most bounds how many requests are kept.
	most = 500_000
)

// Window is the time that somebody asks about, in microseconds since 1970; a zero is an open end.
type Window struct{ From, To int64 }

func (w Window) has(received, answered int64) bool {
	return (w.From == 0 || answered >= w.From) && (w.To == 0 || received <= w.To)
}

// Read adds the deletes and evictions of a log that were carried out within a time. The log is
// of Events of audit.k8s.io as JSON, one after the other, or of EventLists, as they are sent to
// a webhook; it may be gzipped. The name is that for errors, which also name the line.
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
	// events is how many events were read.
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

// cutOff reports whether an error is that the log ends within its last event, and there are
// others before it.
func (r *reader) cutOff(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) && r.input.failed == nil && r.events > 0 && r.dec.StackDepth() > 0
}

// line is the number of the line that an error is about.
func (r *reader) line(err error) int {
	ahead := r.dec.UnreadBuffer()
	if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
		ahead = ahead[min(len(ahead), int(max(0, syntax.ByteOffset-r.dec.InputOffset()))):]
	}
	return 1 + r.input.ends - bytes.Count(ahead, []byte("\n"))
}

// plain is an error without the place that a line says better.
func plain(err error) error {
	if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("this is not JSON: %w", syntax.Err)
	}
	return err
}

// add keeps a request, unless another log had it.
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

// once is the one copy of a text that many requests have.
func (l *Log) once(text string) string {
	if s, ok := l.texts[text]; ok {
		return s
	}
	l.texts[text] = text
	return text
}

// input counts the lines of what is read, and bounds how much of it is held.
type input struct {
	in io.Reader
	// taken is how much was understood; read is how much was read, and ends how many ends of
	// lines.
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
