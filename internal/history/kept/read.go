package kept

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// zstdMagic is the beginning of a compressed file.
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Is reports whether a file is a history.
func Is(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	text, end, err := unpacked(f)
	if err != nil {
		return false, err
	}
	defer end()
	first := make([]byte, len(mark))
	_, err = io.ReadFull(text, first)
	return err == nil && string(first) == mark, nil
}

const mostWindow = 64 << 20

// unpacked returns the text of a file, compressed or not. The caller must call end.
func unpacked(f *os.File) (text io.Reader, end func(), err error) {
	begin := make([]byte, len(zstdMagic))
	if _, err := f.ReadAt(begin, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if !bytes.Equal(begin, zstdMagic) {
		return f, func() {}, nil
	}
	d, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostWindow))
	if err != nil {
		return nil, nil, err
	}
	return d, d.Close, nil
}

// A history unpacks to about ten times its size. A file that unpacks to far more is an attempt to
// exhaust the memory.
const (
	mostRatio = 100
	freeBytes = 64 << 20
)

var (
	errTooMuch = errors.New("it unpacks to far more than a history does")
	errDamaged = errors.New("it is damaged, or was not written to its end")
)

// Open reads a file of history.
func Open(ctx context.Context, path string) (*Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	r, err := readFile(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func readFile(ctx context.Context, f *os.File) (*Record, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text, end, err := unpacked(f)
	if err != nil {
		return nil, err
	}
	defer end()
	l := &lines{r: bufio.NewReaderSize(text, 64<<10), room: info.Size()*mostRatio + freeBytes, sum: sha256.New()}
	first, err := l.next()
	if err != nil {
		return nil, err
	}
	var t title
	switch err := json.Unmarshal(first, &t); {
	case err != nil || !bytes.HasPrefix(first, []byte(mark)):
		return nil, errDamaged
	case t.Format != formatVersion:
		return nil, fmt.Errorf("its format has version %d, this program reads %d", t.Format, formatVersion)
	}
	return readEntries(ctx, t, l)
}

func readEntries(ctx context.Context, t title, l *lines) (*Record, error) {
	r := newRecord(t)
	intern := manifest.NewInterner()
	for n := 2; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		before := l.sum.Sum(nil)
		text, err := l.next()
		if err != nil {
			return nil, err
		}
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if e.SHA256 != nil {
			if !bytes.Equal(e.SHA256, before) || l.more() {
				return nil, errDamaged
			}
			r.index()
			return r, nil
		}
		if err := r.take(&e, intern); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// lines reads the lines of a file and hashes them.
type lines struct {
	r    *bufio.Reader
	room int64
	sum  hash.Hash
}

// next returns the next line. The end of the file is an error.
func (l *lines) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if l.room -= int64(len(part)); l.room < 0 {
			return nil, errTooMuch
		}
		line = append(line, part...)
		switch {
		case err == nil:
			_, _ = l.sum.Write(line) // it never fails
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, errDamaged
		}
	}
}

// more reports whether anything follows.
func (l *lines) more() bool {
	_, err := l.r.ReadByte()
	return !errors.Is(err, io.EOF)
}

// take adds the content of a line.
func (r *Record) take(e *entry, intern *manifest.Interner) error {
	p := &r.whole
	switch {
	case e.Served != nil:
		for _, s := range e.Served {
			p.Resources.Add(s.Resource())
		}
	case e.Limit != nil:
		p.Limits = append(p.Limits, e.Limit.limit())
	case e.Tick != nil:
		r.ticks = append(r.ticks, e.Tick.moment())
	case e.Stood != nil:
		o := e.Stood.Object(intern)
		if o.UID == "" {
			return fmt.Errorf("%s has no uid", o.Ref)
		}
		p.Standing = append(p.Standing, o)
	case e.Elsewhere != nil:
		p.Elsewhere = append(p.Elsewhere, e.Elsewhere.Object(intern))
	case e.Absent != nil:
		p.Absent = append(p.Absent, object.Ref(*e.Absent))
	case e.Change != nil:
		c, err := e.Change.change(intern)
		p.Changes = append(p.Changes, c)
		return err
	case e.Body != nil:
		return r.body(e.Body)
	}
	return nil
}
