package snapshot

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/kubectl-gc/kubectl-gc/internal/codec"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot/etcd"
)

// format is the format of a stream, by its first bytes.
type format uint8

const (
	text format = iota
	gzipped
	zstandard
	bzipped
	xzipped
	lz4ed
	zipped
	tarred
	database
)

// tarBlock is the size of a tar header.
const tarBlock = 512

// formatOf recognises a stream by its content: names and extensions can be wrong.
func formatOf(start []byte) format {
	switch {
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		return gzipped
	case bytes.HasPrefix(start, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstandard
	case len(start) > 4 && bytes.HasPrefix(start, []byte("BZh")) && bytes.HasPrefix(start[4:], []byte("1AY&SY")):
		return bzipped
	case bytes.HasPrefix(start, xzMagic):
		return xzipped
	case bytes.HasPrefix(start, []byte{0x04, 0x22, 0x4d, 0x18}):
		return lz4ed
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return zipped
	case isTar(start):
		return tarred
	case etcd.Magic(start):
		return database
	default:
		return text
	}
}

// isTar checks the checksum of the first header, which every tar dialect has; the oldest one lacks
// the magic word. An empty archive is two blocks of zeros.
func isTar(start []byte) bool {
	if len(start) < tarBlock {
		return false
	}
	header := start[:tarBlock]
	sum, signed := int64(0), int64(0)
	for i, b := range header {
		if i >= 148 && i < 156 {
			b = ' '
		}
		sum += int64(b)
		signed += int64(int8(b))
	}
	if sum == 8*' ' {
		return bytes.Count(header, []byte{0}) == tarBlock
	}
	recorded := int64(0)
	digits := 0
	for _, b := range bytes.Trim(header[148:156], " \x00") {
		if b < '0' || b > '7' {
			return false
		}
		recorded = recorded*8 + int64(b-'0')
		digits++
	}
	return digits > 0 && (recorded == sum || recorded == signed)
}

// maxNesting bounds compression within compression and archives within archives. Some tools gzip a
// tar.gz again, and some bundles contain bundles.
const maxNesting = 3

// stream is a file of unknown format.
type stream struct {
	// name is for messages. path is the path within the input, "" for the whole input.
	name, path string
	// location applies if the content is text.
	location location
	// file is set if the stream is a file with random access.
	file *sized
	// unpacked is the number of decompressors around it, archives that of archives.
	unpacked, archives int
	// counted is true if reads are metered already.
	counted bool
}

// readStream reads a stream.
func (r *reader) readStream(in *input, s stream, content io.Reader) error {
	first := newBuffered(content)
	defer first.release()
	buffered := first.Reader
	var inner *metered
	for unpacked := 0; ; unpacked++ {
		start, err := buffered.Peek(tarBlock)
		if err != nil && !errors.Is(err, io.EOF) && (s.path == "" || len(start) == 0) {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		f := formatOf(start)
		if f != text && f >= zipped && s.archives > maxNesting {
			return fmt.Errorf("%s: an archive in more than %d archives", s.name, maxNesting)
		}
		switch f {
		case zipped:
			if unpacked > 0 {
				s.file = nil
			}
			return r.readZip(in, s, buffered)
		case tarred:
			if inner == nil && !s.counted {
				return r.readTar(in, s, &metered{r: buffered, m: &in.meter})
			}
			return r.readTar(in, s, buffered)
		case database:
			if unpacked > 0 || s.archives > 0 {
				s.file = nil
			}
			return r.readEtcd(in, s.file)
		case text:
			switch {
			case s.location.role == foreign:
				r.ignore()
				return nil
			case inner != nil:
				inner.whole = true
			case !s.counted:
				return r.readFile(in, s.name, s.location, &metered{r: buffered, m: &in.meter, whole: true})
			}
			return r.readFile(in, s.name, s.location, buffered)
		default: // compressed
		}
		if s.unpacked == maxNesting {
			return fmt.Errorf("%s: compressed more than %d times", s.name, maxNesting)
		}
		z, closer, err := in.unpack(buffered, f, s.unpacked+s.archives)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		defer closer() //nolint:gocritic // maxNesting of them at most, and all are in use until the end
		s.unpacked++
		inner = z
		buffered = bufio.NewReaderSize(z, 64<<10)
	}
}

// nameHint derives the kind of items without one from the name of a single file. The name doesn't
// tell the scope.
func nameHint(name string) location {
	l := location{role: objects, scope: shown}
	if base, ok := textName(path.Base(name)); ok {
		if base == "version" || base == "groups" || base == "resources" {
			l.role = perhapsDiscovery
		}
		if plural := strings.ToLower(base); builtinNames().isPlural(plural) {
			l.resource = plural
		}
	}
	return l
}

// unpack returns a decompressor for a stream, metered for the input. depth is the number of open
// streams around it.
func (in *input) unpack(content *bufio.Reader, f format, depth int) (*metered, func(), error) {
	nothing := func() {}
	switch f {
	case zstandard:
		window := in.meter.limits.windowBytes(depth)
		z, err := codec.NewReader(codec.Zstd, content, window)
		if err != nil {
			return nil, nil, fmt.Errorf("zstd: %w", err)
		}
		return &metered{r: z, m: &in.meter, window: window}, func() { _ = z.Close() }, nil
	case bzipped:
		return &metered{r: unpacker{bzip2.NewReader(content), "bzip2"}, m: &in.meter}, nothing, nil
	case xzipped:
		z, err := newXZ(content, in.meter.limits.windowBytes(depth))
		if err != nil {
			return nil, nil, fmt.Errorf("xz: %w", err)
		}
		return &metered{r: unpacker{z, "xz"}, m: &in.meter}, nothing, nil
	case lz4ed:
		z, err := codec.NewReader(codec.LZ4, content, 0)
		if err != nil {
			return nil, nil, fmt.Errorf("lz4: %w", err)
		}
		return &metered{r: unpacker{z, "lz4"}, m: &in.meter}, nothing, nil
	default:
		z, err := codec.NewReader(codec.Gzip, content, 0)
		if err != nil {
			return nil, nil, fmt.Errorf("gzip: %w", err)
		}
		return &metered{r: z, m: &in.meter}, func() { _ = z.Close() }, nil
	}
}

// unpacker adds the decompressor's name to its errors.
type unpacker struct {
	io.Reader
	name string
}

func (u unpacker) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !strings.HasPrefix(err.Error(), u.name) {
		err = fmt.Errorf("%s: %w", u.name, err)
	}
	return n, err
}

// buffered is a reader with a pooled buffer: most files are smaller than it.
type buffered struct{ *bufio.Reader }

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

func newBuffered(content io.Reader) buffered {
	b := buffered{readers.Get().(*bufio.Reader)}
	b.Reset(content)
	return b
}

// release returns the buffer to the pool. The reader must not be used afterwards.
func (b buffered) release() {
	b.Reset(nil)
	readers.Put(b.Reader)
}

// asUTF8 converts UTF-16 with a byte order mark, as PowerShell writes redirected output, to UTF-8.
// It returns every other text unchanged.
func asUTF8(content *bufio.Reader) *bufio.Reader {
	mark, _ := content.Peek(4)
	switch {
	case bytes.HasPrefix(mark, []byte{0xff, 0xfe, 0, 0}): // UTF-32
		return content
	case bytes.HasPrefix(mark, []byte{0xff, 0xfe}):
		return bufio.NewReaderSize(&wideText{r: content, low: 0, high: 1, line: 1}, 64<<10)
	case bytes.HasPrefix(mark, []byte{0xfe, 0xff}):
		return bufio.NewReaderSize(&wideText{r: content, low: 1, high: 0, line: 1}, 64<<10)
	}
	return content
}

// wideText decodes UTF-16. Half a character is an error because it is unknown.
type wideText struct {
	r *bufio.Reader
	// low and high are the indexes of the low and the high byte.
	low, high int
	line      int
	// text is decoded but was not returned yet.
	text []byte
	err  error
}

func (w *wideText) Read(p []byte) (int, error) {
	for len(w.text) < 4<<10 && w.err == nil {
		c, err := w.character()
		if err != nil {
			w.err = err
			break
		}
		if c == '\n' {
			w.line++
		}
		w.text = utf8.AppendRune(w.text, c)
	}
	if len(w.text) == 0 {
		return 0, w.err
	}
	n := copy(p, w.text)
	w.text = w.text[:copy(w.text, w.text[n:])]
	return n, nil
}

func (w *wideText) character() (rune, error) {
	first, err := w.unit()
	if err != nil || !utf16.IsSurrogate(first) {
		return first, err
	}
	second, err := w.unit()
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	c := utf16.DecodeRune(first, second)
	if c == utf8.RuneError {
		return 0, fmt.Errorf("line %d: not valid UTF-16: half a character", w.line)
	}
	return c, nil
}

func (w *wideText) unit() (rune, error) {
	var b [2]byte
	n, err := io.ReadFull(w.r, b[:])
	if n == 1 && errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, fmt.Errorf("line %d: not valid UTF-16: it ends with half a character", w.line)
	}
	return rune(b[w.low]) | rune(b[w.high])<<8, err
}
