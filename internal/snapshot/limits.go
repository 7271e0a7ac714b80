package snapshot

import (
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/internal/codec"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

// ErrLimit is in the error chain if an input needs more than Limits allow: with ErrSize more than
// EntryBytes, TotalBytes or Ratio, with ErrFiles more than Entries, and otherwise more than
// MemoryBytes or a limit derived from it.
var (
	ErrLimit = manifest.ErrLimit
	ErrSize  = fmt.Errorf("%w", ErrLimit)
	ErrFiles = fmt.Errorf("%w", ErrLimit)
)

// Limits bound the cost of a single input. A zero field means its default; a negative one is an
// error, never "unlimited". (spec N22–N24)
type Limits struct {
	// EntryBytes bounds one decompressed file; 8 GiB by default.
	EntryBytes int64
	// TotalBytes bounds one decompressed input; 8 GiB by default.
	TotalBytes int64
	// Entries bounds the files of an archive or a directory; 2,000,000 by default.
	Entries int
	// Ratio bounds the growth of an input by decompression, once it is larger than RatioFrom; 400
	// by default.
	Ratio int64
	// RatioFrom is the size below which Ratio isn't checked; 256 MiB by default.
	RatioFrom int64
	// MemoryBytes is the memory that the process may use in addition to ObjectMemory per object;
	// 300 MB by default. The transient memory for parts of an input is bounded in proportion: 64
	// MiB for one value, line or zip archive that is not a file, 16 MiB for the kept part of one
	// object.
	MemoryBytes int64
}

// The implicit limits, in bytes.
const (
	// ObjectMemory is the memory that the process may use per object.
	ObjectMemory = 1_000
	// UsualMemory is the memory that it may use in addition.
	UsualMemory = 300_000_000
)

const gib = 1 << 30

// scaled returns a bound in proportion to MemoryBytes; usual is its value for UsualMemory.
func (l Limits) scaled(usual int64) int {
	return int(min(float64(usual)/UsualMemory*float64(l.MemoryBytes), 1<<40))
}

// valueBytes bounds one value, line or archive that is held in memory as it is.
func (l Limits) valueBytes() int { return l.scaled(64 << 20) }

// directoryBytes bounds the directory of a zip archive. Its parsed form is about ten times as
// large.
func (l Limits) directoryBytes() int { return l.scaled(8 << 20) }

// windowBytes bounds the window of a zstd or xz stream. Nested streams get less.
func (l Limits) windowBytes(depth int) int {
	if depth == 0 {
		return l.scaled(64 << 20)
	}
	return max(l.scaled(8<<20), 1<<20)
}

// reading returns the limits for text.
func (l Limits) reading(reserve func(bytes int64, waiting int) error) manifest.Limits {
	return manifest.Limits{
		ValueBytes: l.valueBytes(), ObjectBytes: l.scaled(16 << 20), ParsedBytes: l.scaled(128 << 20), Reserve: reserve,
	}
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

// counter counts the bytes that are read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// meter is the account of one input: the bytes read from outside and the bytes that came out of the
// decompressors.
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

// metered charges the bytes read through it to the meter.
type metered struct {
	r io.Reader
	m *meter
	// whole is true if the reader is one file, not an archive of many.
	whole bool
	read  int64
	// window is the window limit of a zstd stream.
	window int
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if errors.Is(err, codec.ErrWindow) {
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

// readAll reads a whole file up to a limit.
func readAll(r io.Reader, limit int, what string) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err == nil && len(content) > limit {
		err = manifest.AboveLimit(limit, what)
	}
	return content, err
}

// checkDecoding returns an error for a JSON text that could become too large by decoding.
func (l Limits) checkDecoding(text []byte) error {
	if most := l.scaled(96 << 20); manifest.Weight(text) > int64(most) {
		return manifest.AboveLimit(most, "what a text that is read in one piece may become")
	}
	return nil
}
