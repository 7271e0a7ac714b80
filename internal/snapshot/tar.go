package snapshot

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

func (r *reader) readTar(in *input, s stream, content io.Reader) error {
	stream := &tarStream{counter: counter{r: content}}
	archive := tar.NewReader(stream)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			// The checksum of the surrounding compression follows the archive.
			if _, err = io.Copy(io.Discard, stream); err == nil && stream.zeros < tarBlock {
				err = io.ErrUnexpectedEOF
			}
		}
		if err == nil && header == nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: not a whole tar archive: %w", s.name, err)
		}
		if header.Typeflag != tar.TypeReg {
			if err := in.meter.entry(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			continue
		}
		entry := &tarEntry{archive: archive, around: &stream.counter, m: &in.meter}
		if err := r.readEntry(in, s, header.Name, func() (io.Reader, error) { return entry, nil }); err != nil {
			return err
		}
	}
}

// tarStream is the input of a tar archive. A tar archive ends with a block of zeros: one that was
// cut off between two files has none.
type tarStream struct {
	counter
	// zeros is the number of trailing zero bytes so far.
	zeros int
}

func (t *tarStream) Read(p []byte) (int, error) {
	n, err := t.counter.Read(p)
	if rest := len(bytes.TrimRight(p[:n], "\x00")); rest > 0 {
		t.zeros = n - rest
	} else {
		t.zeros += n
	}
	return n, err
}

// tarEntry is one file of a tar archive. Reads through the archive are metered already; only holes
// of sparse files are not.
type tarEntry struct {
	archive io.Reader
	around  *counter
	m       *meter
	read    int64
}

func (t *tarEntry) Read(p []byte) (int, error) {
	before := t.around.n
	n, err := t.archive.Read(p)
	if t.read += int64(n); t.read > t.m.limits.EntryBytes {
		return 0, fmt.Errorf("%w: a file has more than %s", ErrSize, manifest.Size(t.m.limits.EntryBytes))
	}
	if hole := int64(n) - (t.around.n - before); hole > 0 {
		if grown := t.m.grow(hole); grown != nil {
			return 0, grown
		}
	}
	return n, err
}
