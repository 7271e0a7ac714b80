package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// errFormat is in the chain of every error about a file of our own format. Its
// header claims coverage for objects that follow, so that a broken one is never
// taken in part.
var errFormat = errors.New("not a whole snapshot")

// isStored recognises our own format.
func isStored(start []byte) bool { return bytes.HasPrefix(start, []byte(formatMark)) }

// lineReader reads lines and hashes them.
type lineReader struct {
	r    *bufio.Reader
	hash hash.Hash
	line []byte
	// number is that of the current line, objects how many were read before it.
	number, objects int
	limits          Limits
	// reserve asks for memory, with how many objects were read here; nil where nobody
	// counts it. unasked is how much was read since.
	reserve func(bytes int64, objects int) error
	unasked int
}

// lines are the lines of a file of our own format.
func (r *reader) lines(content *bufio.Reader) *lineReader {
	return &lineReader{r: content, hash: sha256.New(), limits: r.limits, reserve: r.reserve}
}

// reserveEach is how much is read between two questions for memory.
const reserveEach = 128 << 10

// check asks whether the current line may be decoded.
func (l *lineReader) check() error {
	weight := int64(0)
	if len(l.line) > 4<<10 {
		if err := l.limits.checkDecoding(l.line); err != nil {
			return l.at(err)
		}
		weight = manifest.Weight(l.line)
	}
	return l.ask(len(l.line), weight)
}

// ask asks for memory behind so many more bytes of the file.
func (l *lineReader) ask(read int, memory int64) error {
	if l.unasked += read; l.reserve == nil || memory+int64(l.unasked) < reserveEach {
		return nil
	}
	l.unasked = 0
	return l.at(l.reserve(memory, l.objects))
}

// at says in which line something is wrong.
func (l *lineReader) at(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("line %d: %w", l.number, err)
}

// next returns the next line without its end. The line is valid until the next
// call.
func (l *lineReader) next() ([]byte, error) {
	l.line = l.line[:0]
	l.number++
	for {
		part, err := l.r.ReadSlice('\n')
		if most := l.limits.valueBytes(); len(l.line)+len(part) > most {
			return nil, l.at(above(most, "one value or line"))
		}
		if cap(l.line)-len(l.line) < len(part) {
			l.line = slices.Grow(l.line, max(len(l.line), len(part))) // twofold makes less garbage
		}
		l.line = append(l.line, part...)
		switch {
		case err == nil:
			return l.line[:len(l.line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
			if err := l.ask(len(part), int64(len(l.line))); err != nil {
				return nil, err
			}
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%w: it ends before its last line: %w", errFormat, manifest.ErrTruncated)
		default:
			return nil, fmt.Errorf("%w: %w", errFormat, err)
		}
	}
}

// take counts the current line as part of what the trailer vouches for.
func (l *lineReader) take() {
	l.hash.Write(l.line)
}

// readStored reads a snapshot in our own format, and checks that it is whole.
func readStored(lines *lineReader, decode lineDecoder, intern *manifest.Interner) (*Snapshot, error) {
	header, err := readHeader(lines)
	if err != nil {
		return nil, err
	}
	s := header.snapshot()
	if s.Objects, err = readStoredObjects(lines, header, decode, intern); err != nil {
		return nil, err
	}
	if err := checkTrailer(lines, len(s.Objects)); err != nil {
		return nil, err
	}
	if !slices.IsSortedFunc(s.Objects, compareObjects) {
		return nil, fmt.Errorf("%w: its objects are not sorted", errFormat)
	}
	return s, nil
}

func readHeader(lines *lineReader) (*storedHeader, error) {
	line, err := lines.next()
	if err == nil {
		err = lines.check()
	}
	if err != nil {
		return nil, err
	}
	var version struct {
		Format int `json:"kubectlGCSnapshot"`
	}
	if err := json.Unmarshal(line, &version); err != nil {
		return nil, fmt.Errorf("%w: header: %w", errFormat, err)
	}
	if version.Format != formatVersion {
		return nil, fmt.Errorf("%w that this version can read: it has format %d, and this is format %d", errFormat, version.Format, formatVersion)
	}
	header := &storedHeader{}
	if err := json.Unmarshal(line, header); err != nil {
		return nil, fmt.Errorf("%w: header: %w", errFormat, err)
	}
	if header.Objects < 0 {
		return nil, fmt.Errorf("%w: header: %d objects", errFormat, header.Objects)
	}
	lines.take()
	return header, nil
}

func (h *storedHeader) snapshot() *Snapshot {
	s := &Snapshot{Resources: &object.Resources{}, Source: h.Source.source(), coverage: coverageOf(h.Coverage)}
	for _, r := range h.Resources {
		s.Resources.Add(r.resource())
	}
	for _, g := range h.Gaps {
		s.Gaps = append(s.Gaps, Gap(g))
	}
	for _, p := range h.Problems {
		s.Problems = append(s.Problems, Problem{Kind: ProblemKind(p.Kind), Object: object.Ref(p.Object), File: p.File, Message: p.Message})
	}
	return s
}

func readStoredObjects(lines *lineReader, header *storedHeader, decode lineDecoder, intern *manifest.Interner) ([]*object.Object, error) {
	types := make([]typeName, len(header.Types))
	for i, t := range header.Types {
		types[i] = typeName{intern.String(t[0]), intern.String(t[1])}
	}
	// The count is a claim of the file; memory follows what is really there.
	objects := make([]*object.Object, 0, min(header.Objects, 1<<16))
	for n := range header.Objects {
		line, err := lines.next()
		if err == nil {
			lines.objects = n
			err = lines.check()
		}
		if err != nil {
			return nil, err
		}
		o, err := decode(line, types, intern)
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", errFormat, n+2, err)
		}
		lines.take()
		objects = append(objects, o)
	}
	return objects, nil
}

// lineDecoder makes an object of a line; types are those of the header.
type lineDecoder func(line []byte, types []typeName, intern *manifest.Interner) (*object.Object, error)

func wholeObject(line []byte, types []typeName, intern *manifest.Interner) (*object.Object, error) {
	var stored storedObject
	if err := json.Unmarshal(line, &stored); err != nil {
		return nil, err
	}
	if stored.Type < 0 || stored.Type >= len(types) {
		return nil, fmt.Errorf("type %d of %d", stored.Type, len(types))
	}
	return stored.object(types[stored.Type], intern), nil
}

func checkTrailer(lines *lineReader, objects int) error {
	line, err := lines.next()
	if err != nil {
		return err
	}
	var trailer storedTrailer
	if err := json.Unmarshal(line, &trailer, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: trailer: %w", errFormat, err)
	}
	if sum := hex.EncodeToString(lines.hash.Sum(nil)); trailer.Objects != objects || trailer.Hash != sum {
		return fmt.Errorf("%w: its hash does not match its content", errFormat)
	}
	switch _, err := lines.r.ReadByte(); {
	case err == nil:
		return fmt.Errorf("%w: something follows its last line", errFormat)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", errFormat, err)
	}
	return nil
}
