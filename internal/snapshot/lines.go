package snapshot

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
)

// Lines reads the lines of another format of this program than a snapshot: JSON lines, compressed
// or not, of which the last one confirms the hash of those before it. The limits of Options hold as
// they do for a dump. It is for one goroutine and has to be closed.
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

// Begins reports whether the file begins with a text. It is for a file of which nothing was read.
func (l *Lines) Begins(text string) bool {
	start, _ := l.lines.from.Peek(len(text)) // a file that cannot be read begins with nothing
	return string(start) == text
}

// Next returns the next line without its end. It is valid until the next call. The end of the file
// is an error; ErrLimit is in its chain if the line takes more than the limits allow.
func (l *Lines) Next() ([]byte, error) {
	if l.lines.number > 0 {
		l.lines.take()
	}
	l.lines.objects = l.lines.number
	line, err := l.lines.read()
	if err == nil {
		err = l.lines.check()
	}
	return line, err
}

// Sum returns the SHA-256 of the lines before the current one.
func (l *Lines) Sum() []byte { return l.lines.hash.Sum(nil) }

// Last returns an error if anything follows the current line.
func (l *Lines) Last() error { return l.lines.ends() }

// At adds the number of the current line to an error.
func (l *Lines) At(err error) error { return fmt.Errorf("line %d: %w", l.lines.number, err) }

// Close releases the decompressor.
func (l *Lines) Close() { l.close() }
