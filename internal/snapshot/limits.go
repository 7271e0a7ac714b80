package snapshot

import (
	"errors"
	"fmt"
	"io"
)

// ErrLimit is in the chain of the error when an input is larger than Limits
// allow.
var ErrLimit = errors.New("the input exceeds a limit")

// Limits bound what a single input may cost. A zero field means its default; a
// negative one is an error, never "unlimited". (safety.md N22–N24)
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
	// MemoryBytes bounds what has to be held in memory whole: discovery
	// documents, and zip archives that cannot be read in place; 256 MiB by default.
	MemoryBytes int64
}

const gib = 1 << 30

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
		{"MemoryBytes", &l.MemoryBytes, gib / 4},
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
		return fmt.Errorf("%w: more than %d files", ErrLimit, m.limits.Entries)
	}
	return nil
}

func (m *meter) grow(n int64) error {
	m.total += n
	if m.total > m.limits.TotalBytes {
		return fmt.Errorf("%w: more than %d bytes after decompression", ErrLimit, m.limits.TotalBytes)
	}
	if m.in != nil && m.total > m.limits.RatioFrom && m.total/m.limits.Ratio > m.in.n {
		return fmt.Errorf("%w: %d compressed bytes became more than %d bytes, which looks like a decompression bomb", ErrLimit, m.in.n, m.total)
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
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.read += int64(n)
	if m.whole && m.read > m.m.limits.EntryBytes {
		return 0, fmt.Errorf("%w: a file has more than %d bytes", ErrLimit, m.m.limits.EntryBytes)
	}
	if grown := m.m.grow(int64(n)); grown != nil {
		return 0, grown
	}
	return n, err
}

// readAll reads a file that is needed whole, up to a limit.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes that have to be held in memory", ErrLimit, limit)
	}
	return content, nil
}
