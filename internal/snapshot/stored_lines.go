package snapshot

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

// lineReader reads lines and hashes them.
type lineReader struct {
	from *bufio.Reader
	hash hash.Hash
	// line is the current line, long the buffer for those longer than from's buffer.
	line, long []byte
	// number is the number of the current line, objects that of the objects before it.
	number, objects int
	limits          Limits
	// reserve requests memory; its second parameter is the number of objects read here. It may be
	// nil. unasked is the number of bytes read since its last call.
	reserve func(bytes int64, objects int) error
	unasked int
}

// reserveEach is the number of bytes between two requests for memory.
const reserveEach = 128 << 10

// next returns the next line and requests memory for decoding it.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.read()
	if err == nil {
		err = l.check()
	}
	return line, err
}

// check requests memory for decoding the current line. It returns an error if the line could need
// more than the limits allow.
func (l *lineReader) check() error {
	weight := int64(0)
	if len(l.line) > 4<<10 {
		if err := l.limits.checkDecoding(l.line); err != nil {
			return l.at(err)
		}
		weight = manifest.Weight(l.line)
	}
	return l.ask(len(l.line), weight)
}

// ask requests memory after so many more bytes of the file.
func (l *lineReader) ask(read int, memory int64) error {
	if l.unasked += read; l.reserve == nil || memory+int64(l.unasked) < reserveEach {
		return nil
	}
	l.unasked = 0
	return l.at(l.reserve(memory, l.objects))
}

// at adds the line number to an error.
func (l *lineReader) at(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("line %d: %w", l.number, err)
}

// read returns the next line without its end. It is valid until the next call.
func (l *lineReader) read() ([]byte, error) {
	l.number++
	l.long = l.long[:0]
	for {
		part, err := l.from.ReadSlice('\n')
		if most := l.limits.valueBytes(); len(l.long)+len(part) > most {
			return nil, l.at(manifest.AboveLimit(most, "one value or line"))
		}
		if err == nil && len(l.long) == 0 {
			l.line = part
			return part[:len(part)-1], nil
		}
		if cap(l.long)-len(l.long) < len(part) {
			l.long = slices.Grow(l.long, max(len(l.long), len(part))) // twofold makes less garbage
		}
		l.long = append(l.long, part...)
		switch {
		case err == nil:
			l.line = l.long
			return l.line[:len(l.line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
			if err := l.ask(len(part), int64(len(l.long))); err != nil {
				return nil, err
			}
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%w: it ends before its last line: %w", errFormat, manifest.ErrTruncated)
		default:
			return nil, fmt.Errorf("%w: %w", errFormat, err)
		}
	}
}

// take adds the current line to the hash that the trailer confirms.
func (l *lineReader) take() { l.hash.Write(l.line) }

// ends returns an error if anything follows the current line.
func (l *lineReader) ends() error {
	switch _, err := l.from.ReadByte(); {
	case err == nil:
		return fmt.Errorf("%w: something follows its last line", errFormat)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", errFormat, err)
	}
	return nil
}

// Lines reads a file of JSON lines, compressed or not, in a format of this program other than the
// snapshot's. The caller checks the hash in the last line with Sum. The limits of Options apply as
// to a dump. Lines must be used by one goroutine and closed.
type Lines struct {
	lines *lineReader
	close func()
}

// ReadLines begins to read a file.
func ReadLines(f *os.File, o Options) (*Lines, error) {
	limits, err := o.Limits.withDefaults()
	if err != nil {
		return nil, err
	}
	in := &input{meter: meter{limits: limits, in: &counter{r: f}}}
	content := bufio.NewReaderSize(in.meter.in, 64<<10)
	start, err := content.Peek(tarBlock)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	text, end := &metered{r: content, m: &in.meter}, func() {}
	if formatOf(start) == zstandard {
		if text, end, err = in.unpack(content, zstandard, 0); err != nil {
			return nil, err
		}
	}
	text.whole = true
	reserve := func(bytes int64, objects int) error {
		if o.Memory == nil {
			return nil
		}
		return o.Memory(bytes, objects, limits)
	}
	return &Lines{&lineReader{from: bufio.NewReaderSize(text, 64<<10), hash: sha256.New(), limits: limits, reserve: reserve}, end}, nil
}

// Begins reports whether the file begins with a text. It must be called before the first Next.
func (l *Lines) Begins(text string) bool {
	start, _ := l.lines.from.Peek(len(text)) // an unreadable file begins with no text; Next returns the error
	return string(start) == text
}

// Next returns the next line without its end. It is valid until the next call. The end of the file
// is an error; ErrLimit is in its chain if the line takes more than the limits allow.
func (l *Lines) Next() ([]byte, error) {
	if l.lines.number > 0 {
		l.lines.take()
	}
	l.lines.objects = l.lines.number
	return l.lines.next()
}

// Sum returns the SHA-256 of the lines before the current one.
func (l *Lines) Sum() []byte { return l.lines.hash.Sum(nil) }

// Last returns an error if anything follows the current line.
func (l *Lines) Last() error { return l.lines.ends() }

// At adds the number of the current line to an error.
func (l *Lines) At(err error) error { return fmt.Errorf("line %d: %w", l.lines.number, err) }

// Close releases the decompressor.
func (l *Lines) Close() { l.close() }
