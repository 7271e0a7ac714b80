package snapshot

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

// ErrLimit is in the chain of the error when an input needs more than Limits allow:
// with ErrSize more than EntryBytes, TotalBytes or Ratio, with ErrFiles more than
// Entries, and else more than MemoryBytes or what follows from it.
var (
	ErrLimit = manifest.ErrLimit
	ErrSize  = fmt.Errorf("%w", ErrLimit)
	ErrFiles = fmt.Errorf("%w", ErrLimit)
)

// Limits bound what a single input may cost. A zero field means its default; a
// negative one is an error, never "unlimited". (spec N22–N24)
type Limits struct {
	// EntryBytes bounds one file after decompression; 8 GiB by default.
	EntryBytes int64
	// TotalBytes bounds one input after decompression; 8 GiB by default.
	TotalBytes int64
	// Entries bounds the files of an archive or a directory; 2,000,000 by default.
	Entries int
	// Ratio bounds how far an input may grow when it is decompressed, once it
	// has grown beyond RatioFrom; 400 by default.
	Ratio int64
	// RatioFrom is the size below which Ratio is not looked at; 256 MiB by default.
	RatioFrom int64
	// MemoryBytes is how much memory the process may take, beside what ObjectMemory
	// allows for each object; 300 MB by default. What is held of an input for a while
	// has bounds of its own, in the same proportion: 64 MiB for one value, line or
	// zip archive that is not a file, 16 MiB for what is kept of one object.
	MemoryBytes int64
}

// What Limits allow without saying so, in bytes.
const (
	// ObjectMemory is how much memory the process may take for each object.
	ObjectMemory = 1_000
	// UsualMemory is how much it may take beside that.
	UsualMemory = 300_000_000
)

const gib = 1 << 30

// scaled is a bound that is usual with the usual MemoryBytes, in proportion.
func (l Limits) scaled(usual int64) int {
	return int(min(float64(usual)/UsualMemory*float64(l.MemoryBytes), 1<<40))
}

// valueBytes bounds one value, line or archive that has to be held as it is.
func (l Limits) valueBytes() int { return l.scaled(64 << 20) }

// documentBytes bounds a document that is read in one piece.
func (l Limits) documentBytes() int { return l.scaled(16 << 20) }

// decodedBytes bounds what decoding a text in one piece may make of it.
func (l Limits) decodedBytes() int { return l.scaled(96 << 20) }

// directoryBytes bounds the directory of a zip archive, of which some ten times as
// much is made.
func (l Limits) directoryBytes() int { return l.scaled(8 << 20) }

// windowBytes bounds the memory that a zstd or xz stream may ask for; the streams in it get less.
func (l Limits) windowBytes(depth int) int {
	if depth == 0 {
		return l.scaled(64 << 20)
	}
	return max(l.scaled(8<<20), 1<<20)
}

// reading are the limits for text.
func (l Limits) reading(reserve func(bytes int64, waiting int) error) manifest.Limits {
	return manifest.Limits{
		ValueBytes: l.valueBytes(), ObjectBytes: l.scaled(16 << 20), ParsedBytes: l.scaled(128 << 20), Reserve: reserve,
	}
}

// above is the error for something of more than so many bytes.
func above(bytes int, what string) error {
	return fmt.Errorf("%w: more than %s, the limit for %s", ErrLimit, manifest.Size(int64(bytes)), what)
}

func (l Limits) withDefaults() (Limits, error) {
	for _, f := range []struct {
		name  string
		value *int64
		usual int64
	}{
		{"EntryBytes", &l.EntryBytes, 8 * gib},
		{"TotalBytes", &l.TotalBytes, 8 * gib},
		{"Ratio", &l.Ratio, 400},
		{"RatioFrom", &l.RatioFrom, gib / 4},
		{"MemoryBytes", &l.MemoryBytes, UsualMemory},
	} {
		if *f.value < 0 {
			return l, fmt.Errorf("limit %s is negative: %d", f.name, *f.value)
		}
		if *f.value == 0 {
			*f.value = f.usual
		}
	}
	if l.Entries < 0 {
		return l, fmt.Errorf("limit Entries is negative: %d", l.Entries)
	}
	if l.Entries == 0 {
		l.Entries = 2_000_000
	}
	return l, nil
}

// counter counts the bytes that pass through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// meter is the account of one input: the bytes taken from outside and the bytes
// that came out of the decompressors.
type meter struct {
	limits  Limits
	in      *counter
	total   int64
	entries int
}

// entry counts one more file.
func (m *meter) entry() error {
	m.entries++
	if m.entries > m.limits.Entries {
		return m.tooMany()
	}
	return nil
}

// merge adds the account of one file of the input.
func (m *meter) merge(one *meter) error {
	m.in.n += one.in.n
	m.entries += one.entries
	if m.entries > m.limits.Entries {
		return m.tooMany()
	}
	return m.grow(one.total)
}

func (m *meter) tooMany() error {
	return fmt.Errorf("%w: more than %d files; read them in several parts", ErrFiles, m.limits.Entries)
}

func (m *meter) grow(n int64) error {
	m.total += n
	if m.total > m.limits.TotalBytes {
		return fmt.Errorf("%w: more than %s after decompression", ErrSize, manifest.Size(m.limits.TotalBytes))
	}
	if m.in != nil && m.total > m.limits.RatioFrom && m.total/m.limits.Ratio > m.in.n {
		return fmt.Errorf("%w: %s became more than %s, which looks like a decompression bomb", ErrSize, manifest.Size(m.in.n), manifest.Size(m.total))
	}
	return nil
}

// metered charges what is read through it to the meter.
type metered struct {
	r io.Reader
	m *meter
	// whole: the reader is one file, not an archive of many.
	whole bool
	read  int64
	// window is the limit of a zstd stream for its window.
	window int
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = tooWide("zstd", m.window)
	}
	m.read += int64(n)
	if m.whole && m.read > m.m.limits.EntryBytes {
		return 0, fmt.Errorf("%w: a file has more than %s", ErrSize, manifest.Size(m.m.limits.EntryBytes))
	}
	if grown := m.m.grow(int64(n)); grown != nil {
		return 0, grown
	}
	return n, err
}

func tooWide(name string, window int) error {
	return fmt.Errorf("%w: %s asks for a window that is larger than %s", ErrLimit, name, manifest.Size(int64(window)))
}

// readAll reads a file that is needed whole, up to a limit.
func readAll(r io.Reader, limit int, what string) ([]byte, error) {
	var content []byte // grows twofold up to the limit, which makes less garbage than io.ReadAll
	for len(content) <= limit {
		if len(content) == cap(content) {
			content = append(make([]byte, 0, min(max(2*cap(content), 64<<10), limit+1)), content...)
		}
		n, err := r.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if len(content) > limit {
		return nil, above(limit, what)
	}
	return content, nil
}

// checkDecoding refuses a JSON text of which decoding could make too much.
func (l Limits) checkDecoding(text []byte) error {
	if most := l.decodedBytes(); manifest.Weight(text) > int64(most) {
		return above(most, "what a text that is read in one piece may become")
	}
	return nil
}
