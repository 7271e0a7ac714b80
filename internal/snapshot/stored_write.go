package snapshot

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/codec"
)

// Compression is the compression of a written snapshot.
type Compression = codec.Compression

// The compressions.
const (
	Uncompressed Compression = ""
	Gzip                     = codec.Gzip
	Zstd                     = codec.Zstd
)

// Evidence is the part of a file besides the snapshot: the state of the objects that matter to
// controllers other than the collector. This package doesn't interpret it.
type Evidence struct {
	// Unread is true if no evidence was read, so that its absence proves nothing.
	Unread bool
	// Lines is the number of lines.
	Lines int
	// Line returns the n-th line, from 0: JSON without a line break.
	Line func(n int) ([]byte, error)
}

// Write writes the snapshot in our own format: JSON lines. The first is a header with everything
// except the objects. The lines of the objects and those of the evidence follow. The last line is a
// trailer with the hash of all lines before it. ReadFiles reads the file and checks that it is
// complete.
func (s *Snapshot) Write(w io.Writer, c Compression, e Evidence) error {
	if c == Uncompressed {
		return s.write(unpacked{w}, e)
	}
	packed, err := codec.NewWriter(c, w, false)
	if err != nil {
		return err
	}
	return s.write(packed, e)
}

// write writes the lines and closes the compressor.
func (s *Snapshot) write(packed io.WriteCloser, e Evidence) error {
	err := s.writeLines(packed, e)
	if closed := packed.Close(); err == nil { // always: the compressor works concurrently
		err = closed
	}
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	return nil
}

type unpacked struct{ io.Writer }

func (unpacked) Close() error { return nil }

// pieceSize is the size of the pieces that are hashed and compressed: both are faster on large ones.
const pieceSize = 64 << 10

// writeLines writes the header, the objects, the evidence and the trailer.
func (s *Snapshot) writeLines(w io.Writer, e Evidence) error {
	sum := sha256.New()
	lines := bufio.NewWriterSize(io.MultiWriter(sum, w), pieceSize)
	encoder := jsontext.NewEncoder(lines, json.Deterministic(true))
	header, types := s.header()
	header.Evidence, header.EvidenceUnread = e.Lines, e.Unread || s.conditionless
	if err := json.MarshalEncode(encoder, header); err != nil {
		return err
	}
	var stored storedObject
	for _, o := range s.Objects {
		stored.take(o, types[typeName{o.APIVersion, o.Kind}])
		if err := json.MarshalEncode(encoder, &stored); err != nil {
			return err
		}
	}
	for n := range e.Lines {
		line, err := e.Line(n)
		if err == nil {
			_, err = lines.Write(append(line, '\n'))
		}
		if err != nil {
			return err
		}
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	if err := json.MarshalEncode(encoder, storedTrailer{Objects: len(s.Objects), Hash: hex.EncodeToString(sum.Sum(nil))}); err != nil {
		return err
	}
	return lines.Flush()
}

// header returns the header; types numbers the apiVersions and kinds of the objects.
func (s *Snapshot) header() (storedHeader, map[typeName]int) {
	h := storedHeader{
		Format: formatVersion, Objects: len(s.Objects), MissingIsAbsent: s.missingIsAbsent, Source: storedSourceOf(s.Source),
		Resources: s.Resources.All(), Coverage: storedCoverageOf(s.coverage), Gaps: s.Gaps, Problems: s.Problems,
	}
	h.Source.Moment = s.latest
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
		one.Namespaces = slices.Sorted(maps.Keys(p.namespaces))
		stored.Places = append(stored.Places, one)
	}
	slices.SortFunc(stored.Places, func(a, b storedPlace) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource))
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
