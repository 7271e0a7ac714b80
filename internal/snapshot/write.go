package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Compression is how a snapshot is written.
type Compression uint8

// The compressions.
const (
	Uncompressed Compression = iota
	Gzip
	Zstd
)

// Write writes the snapshot in our own format: JSON lines, of which the first is
// a header with everything but the objects, and the last one a trailer with the
// hash of all lines before it.
// ReadFiles reads it back; that it is whole is checked then.
func (s *Snapshot) Write(w io.Writer, c Compression) error {
	packed, err := compressor(w, c)
	if err != nil {
		return err
	}
	if err := s.writeLines(packed); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if err := packed.Close(); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	return nil
}

type unpacked struct{ io.Writer }

func (unpacked) Close() error { return nil }

func compressor(w io.Writer, c Compression) (io.WriteCloser, error) {
	switch c {
	case Uncompressed:
		return unpacked{w}, nil
	case Gzip:
		return gzip.NewWriter(w), nil
	case Zstd:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	default:
		return nil, fmt.Errorf("unknown compression %d", c)
	}
}

// lineWriter writes JSON lines and hashes them. It gathers lines until they have
// pieceSize bytes, since a hash and a compressor like large pieces.
type lineWriter struct {
	w       io.Writer
	hash    hash.Hash
	pending bytes.Buffer
	encoder *jsontext.Encoder
}

const pieceSize = 64 << 10

func newLineWriter(w io.Writer) *lineWriter {
	l := &lineWriter{w: w, hash: sha256.New()}
	l.encoder = jsontext.NewEncoder(&l.pending, json.Deterministic(true))
	return l
}

// write adds a line; the encoder ends each value with a newline.
func (l *lineWriter) write(v any) error {
	if err := json.MarshalEncode(l.encoder, v); err != nil {
		return err
	}
	if l.pending.Len() < pieceSize {
		return nil
	}
	return l.flush()
}

func (l *lineWriter) flush() error {
	l.hash.Write(l.pending.Bytes())
	_, err := l.w.Write(l.pending.Bytes())
	l.pending.Reset()
	return err
}

func (s *Snapshot) writeLines(w io.Writer) error {
	lines := newLineWriter(w)
	header, types := s.header()
	if err := lines.write(header); err != nil {
		return err
	}
	var stored storedObject
	for _, o := range s.Objects {
		stored.take(o, types[typeName{o.APIVersion, o.Kind}])
		if err := lines.write(&stored); err != nil {
			return err
		}
	}
	if err := lines.flush(); err != nil {
		return err
	}
	if err := lines.write(storedTrailer{Objects: len(s.Objects), Hash: hex.EncodeToString(lines.hash.Sum(nil))}); err != nil {
		return err
	}
	return lines.flush()
}

// header is everything but the objects; types numbers their apiVersions and kinds.
func (s *Snapshot) header() (storedHeader, map[typeName]int) {
	h := storedHeader{
		Format: formatVersion, Objects: len(s.Objects), Source: storedSourceOf(s.Source),
		Resources: storedResourcesOf(s.Resources), Coverage: storedCoverageOf(s.coverage),
	}
	for _, g := range s.Gaps {
		h.Gaps = append(h.Gaps, storedGap(g))
	}
	for _, p := range s.Problems {
		h.Problems = append(h.Problems, storedProblem{Kind: string(p.Kind), Object: storedRef(p.Object), File: p.File, Message: p.Message})
	}
	types := map[typeName]int{}
	for _, o := range s.Objects {
		name := typeName{o.APIVersion, o.Kind}
		if _, ok := types[name]; !ok {
			types[name] = len(h.Types)
			h.Types = append(h.Types, [2]string{o.APIVersion, o.Kind})
		}
	}
	return h, types
}

func storedCoverageOf(c *Coverage) storedCoverage {
	stored := storedCoverage{Everything: c.everything, Elsewhere: c.elsewhere}
	for gr, p := range c.places {
		one := storedPlace{Group: gr.Group, Resource: gr.Resource, Everywhere: p.everywhere, Failures: p.failures}
		for ns := range p.namespaces {
			one.Namespaces = append(one.Namespaces, ns)
		}
		slices.Sort(one.Namespaces)
		stored.Places = append(stored.Places, one)
	}
	slices.SortFunc(stored.Places, func(a, b storedPlace) int {
		if c := strings.Compare(a.Group, b.Group); c != 0 {
			return c
		}
		return strings.Compare(a.Resource, b.Resource)
	})
	return stored
}

func coverageOf(stored storedCoverage) *Coverage {
	c := &Coverage{everything: stored.Everything, elsewhere: stored.Elsewhere}
	for _, one := range stored.Places {
		p := c.at(schema.GroupResource{Group: one.Group, Resource: one.Resource})
		p.everywhere = one.Everywhere
		if len(one.Failures) > 0 {
			p.failures = one.Failures
		}
		for _, ns := range one.Namespaces {
			if p.namespaces == nil {
				p.namespaces = map[string]struct{}{}
			}
			p.namespaces[ns] = struct{}{}
		}
	}
	return c
}
