package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/codec"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Compression is the compression of a written snapshot.
type Compression uint8

// The compressions.
const (
	Uncompressed Compression = iota
	Gzip
	Zstd
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
	packed, err := compressor(w, c)
	if err != nil {
		return err
	}
	err = s.writeLines(packed, e)
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

func compressor(w io.Writer, c Compression) (io.WriteCloser, error) {
	switch c {
	case Uncompressed:
		return unpacked{w}, nil
	case Gzip:
		return codec.NewWriter(codec.Gzip, w, false)
	case Zstd:
		return codec.NewWriter(codec.Zstd, w, false)
	default:
		return nil, fmt.Errorf("unknown compression %d", c)
	}
}

// lineWriter buffers lines, and hashes and writes them in pieces of pieceSize bytes or a line more:
// hash and compressor are faster on large pieces.
type lineWriter struct {
	w       io.Writer
	hash    hash.Hash
	pending []byte
}

const pieceSize = 64 << 10

// added sets pending, to which the caller has appended, and writes it if it is large enough.
func (l *lineWriter) added(pending []byte) error {
	if l.pending = pending; len(pending) < pieceSize {
		return nil
	}
	return l.flush()
}

func (l *lineWriter) flush() error {
	l.hash.Write(l.pending)
	_, err := l.w.Write(l.pending)
	l.pending = l.pending[:0]
	return err
}

func (s *Snapshot) writeLines(w io.Writer, e Evidence) error {
	return s.addLines(&lineWriter{w: w, hash: sha256.New()}, e)
}

// addLines writes the header, the objects, the evidence and the trailer.
func (s *Snapshot) addLines(lines *lineWriter, e Evidence) error {
	header, types := s.header()
	header.Evidence, header.EvidenceUnread = e.Lines, e.Unread || s.conditionless
	p := newPlainWriter(types)
	first, err := p.encode(header)
	if err == nil {
		err = lines.added(append(lines.pending, first...))
	}
	if err != nil {
		return err
	}
	for _, o := range s.Objects {
		longer, err := p.append(lines.pending, o)
		if err == nil {
			err = lines.added(longer)
		}
		if err != nil {
			return err
		}
	}
	for n := range e.Lines {
		line, err := e.Line(n)
		if err == nil {
			err = lines.added(append(append(lines.pending, line...), '\n'))
		}
		if err != nil {
			return err
		}
	}
	if err := lines.flush(); err != nil {
		return err
	}
	last, err := p.encode(storedTrailer{Objects: len(s.Objects), Hash: hex.EncodeToString(lines.hash.Sum(nil))})
	if err != nil {
		return err
	}
	lines.pending = append(lines.pending, last...)
	return lines.flush()
}

// header returns the header; types numbers the apiVersions and kinds of the objects.
func (s *Snapshot) header() (storedHeader, map[typeName]int) {
	h := storedHeader{
		Format: formatVersion, Objects: len(s.Objects), MissingIsAbsent: s.missingIsAbsent, Source: storedSourceOf(s.Source),
		Resources: StoreResources(s.Resources), Coverage: storedCoverageOf(s.coverage),
	}
	h.Source.Moment = s.latest
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

// plainWriter writes objects exactly like the JSON encoder, if their strings need no escapes. It
// encodes repeated parts once: the owners that siblings share, and the rest of the line, which most
// objects share. The JSON encoder writes all other objects.
type plainWriter struct {
	types map[typeName]int
	// name is the type of the previous object, start the beginning of its lines.
	name  typeName
	start []byte
	// owners and labels are those of the previous object, with their text.
	owners            []object.OwnerReference
	labels            object.Labels
	ownersText, lText []byte
	// ends are the ends of lines by Lifecycle, nil for objects without one.
	ends map[*object.Lifecycle][]byte

	stored  storedObject
	scratch bytes.Buffer
	encoder *jsontext.Encoder
}

func newPlainWriter(types map[typeName]int) *plainWriter {
	p := &plainWriter{types: types, ends: map[*object.Lifecycle][]byte{nil: []byte("}\n")}}
	p.encoder = jsontext.NewEncoder(&p.scratch, json.Deterministic(true))
	return p
}

// encode returns the line of a value. It is valid until the next call.
func (p *plainWriter) encode(v any) ([]byte, error) {
	p.scratch.Reset()
	if err := json.MarshalEncode(p.encoder, v); err != nil {
		return nil, err
	}
	return p.scratch.Bytes(), nil
}

// append appends the line of an object.
func (p *plainWriter) append(line []byte, o *object.Object) ([]byte, error) {
	end, err := p.end(o.Lifecycle)
	if err != nil {
		return nil, err
	}
	if longer, ok := p.plain(line, o); ok {
		return append(longer, end...), nil
	}
	p.stored.take(o, p.types[typeName{o.APIVersion, o.Kind}])
	whole, err := p.encode(&p.stored)
	return append(line, whole...), err
}

// end returns the end of an object's line.
func (p *plainWriter) end(life *object.Lifecycle) ([]byte, error) {
	if end, ok := p.ends[life]; ok {
		return end, nil
	}
	p.stored.take(&object.Object{Lifecycle: life}, 0)
	whole, err := p.encode(&p.stored)
	if err != nil {
		return nil, err
	}
	end := bytes.Clone(whole[len(`{"t":0`):])
	if len(p.ends) >= mostLifecycles {
		clear(p.ends)
	}
	p.ends[life] = end
	return end, nil
}

// plain appends the line of an object up to its end. It returns false, and an unusable line, if a
// string needs escapes.
func (p *plainWriter) plain(line []byte, o *object.Object) ([]byte, bool) {
	if name := (typeName{o.APIVersion, o.Kind}); name != p.name || p.start == nil {
		p.name = name
		p.start = strconv.AppendInt([]byte(`{"t":`), int64(p.types[name]), 10)
	}
	line = append(line, p.start...)
	ok := appendPlain(&line, `,"s":"`, o.Namespace) && appendPlain(&line, `,"n":"`, o.Name) &&
		appendPlain(&line, `,"u":"`, string(o.UID)) && appendPlain(&line, `,"v":"`, o.ResourceVersion) &&
		p.appendOwners(&line, o.Owners) && p.appendLabels(&line, o.Labels)
	if !ok {
		return line, false
	}
	if o.Created != 0 {
		line = strconv.AppendInt(append(line, `,"c":`...), o.Created, 10)
	}
	if o.Generation != 0 {
		line = strconv.AppendInt(append(line, `,"g":`...), o.Generation, 10)
	}
	return line, true
}

// appendPlain appends a member, or nothing for an empty string.
func appendPlain(line *[]byte, key, s string) bool {
	return s == "" || appendText(line, key, s)
}

// appendText appends a member. key includes the opening quote of the string.
func appendText(line *[]byte, key, s string) bool {
	to := append(*line, key...)
	from := len(to)
	to = append(to, s...)
	plain := manifest.PlainRun(to[from:]) == len(s)
	to = append(to, '"')
	*line = to
	return plain
}

func (p *plainWriter) appendOwners(line *[]byte, owners []object.OwnerReference) bool {
	if len(owners) == 0 {
		return true
	}
	if object.SameOwners(p.owners, owners) {
		*line = append(*line, p.ownersText...)
		return true
	}
	from := len(*line)
	before := `,"o":[`
	for i := range owners {
		if !appendOwner(line, before, &owners[i]) {
			return false
		}
		before = `,`
	}
	*line = append(*line, ']')
	p.owners, p.ownersText = owners, append(p.ownersText[:0], (*line)[from:]...)
	return true
}

func appendOwner(line *[]byte, before string, o *object.OwnerReference) bool {
	*line = append(*line, before...)
	if !appendText(line, `{"a":"`, o.APIVersion) || !appendText(line, `,"k":"`, o.Kind) ||
		!appendText(line, `,"n":"`, o.Name) || !appendText(line, `,"u":"`, string(o.UID)) {
		return false
	}
	if o.Controller != 0 {
		*line = strconv.AppendUint(append(*line, `,"c":`...), uint64(o.Controller), 10)
	}
	if o.BlockOwnerDeletion != 0 {
		*line = strconv.AppendUint(append(*line, `,"b":`...), uint64(o.BlockOwnerDeletion), 10)
	}
	*line = append(*line, '}')
	return true
}

// appendLabels appends labels with the NUL after each key and value escaped.
func (p *plainWriter) appendLabels(line *[]byte, labels object.Labels) bool {
	if labels == "" {
		return true
	}
	if labels == p.labels {
		*line = append(*line, p.lText...)
		return true
	}
	from := len(*line)
	to := append(*line, `,"l":"`...)
	rest := []byte(labels)
	for len(rest) > 0 {
		n := manifest.PlainRun(rest)
		to = append(to, rest[:n]...)
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
		if rest[0] != 0 {
			*line = to
			return false
		}
		to, rest = append(to, `\u0000`...), rest[1:]
	}
	to = append(to, '"')
	*line = to
	p.labels, p.lText = labels, append(p.lText[:0], to[from:]...)
	return true
}
