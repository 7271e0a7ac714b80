package kube

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// The kinds of metadata-only answers.
const (
	metaVersion = manifest.MetaVersion
	partialKind = manifest.PartialKind
	partialList = manifest.PartialList
)

// maxFieldBytes bounds one object of a list. A server stores less than 2 MiB of it.
const maxFieldBytes = 32 << 20

// listMeta is the metadata of a list.
type listMeta struct {
	resourceVersion, more string
}

// stream reads a protobuf message incrementally and holds at most one of its fields.
type stream struct {
	r io.Reader
	// buf[pos:end] was read and is not consumed yet.
	buf      []byte
	pos, end int
	// used is the number of bytes before buf[pos].
	used int64
	eof  bool
}

func newStream(r io.Reader) *stream { return &stream{r: r, buf: make([]byte, 64<<10)} }

// fill makes n bytes available, or all that are left. The buffer grows only with data that has
// really arrived.
func (s *stream) fill(n int) error {
	for s.end-s.pos < n && !s.eof {
		if s.pos > 0 && (s.pos == s.end || len(s.buf)-s.pos < n) {
			copy(s.buf, s.buf[s.pos:s.end])
			s.end -= s.pos
			s.pos = 0
		}
		if s.end == len(s.buf) {
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
		k, err := s.r.Read(s.buf[s.end:])
		s.end += k
		if errors.Is(err, io.EOF) {
			s.eof = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// take returns the next n bytes. They are valid until the next call.
func (s *stream) take(n int) ([]byte, error) {
	if err := s.fill(n); err != nil {
		return nil, err
	}
	if s.end-s.pos < n {
		return nil, manifest.ErrShort
	}
	b := s.buf[s.pos : s.pos+n]
	s.pos += n
	s.used += int64(n)
	return b, nil
}

// varint reads a number. At the end of the input it returns io.EOF if mayEnd is set.
func (s *stream) varint(mayEnd bool) (uint64, error) {
	if err := s.fill(binary.MaxVarintLen64); err != nil {
		return 0, err
	}
	if mayEnd && s.pos == s.end {
		return 0, io.EOF
	}
	v, n := protowire.ConsumeVarint(s.buf[s.pos:s.end])
	if n < 0 {
		return 0, manifest.WireError(n)
	}
	s.pos += n
	s.used += int64(n)
	return v, nil
}

// field reads a length-delimited field.
func (s *stream) field() ([]byte, error) {
	n, err := s.varint(false)
	if err != nil {
		return nil, err
	}
	if n > maxFieldBytes {
		return nil, fmt.Errorf("protobuf: a field has %d bytes", n)
	}
	return s.take(int(n))
}

// skip skips the field after a tag.
func (s *stream) skip(tag uint64) error {
	var err error
	switch _, kind := protowire.DecodeTag(tag); kind {
	case protowire.VarintType:
		_, err = s.varint(false)
	case protowire.Fixed64Type:
		_, err = s.take(8)
	case protowire.Fixed32Type:
		_, err = s.take(4)
	case protowire.BytesType:
		_, err = s.field()
	default:
		err = manifest.ErrMalformed
	}
	return err
}

// readPartialList reads a PartialObjectMetadataList, or a list of whole pods if sh is for pods,
// with its envelope up to the end of r, and calls yield for each item. Anything else is an error.
// The items that were yielded before it are valid but incomplete.
func readPartialList(r io.Reader, sh *manifest.Builder, yield func(*object.Object) error) (listMeta, error) {
	s := newStream(r)
	var meta listMeta
	start, err := s.take(len(manifest.Magic))
	if err != nil || !bytes.Equal(start, manifest.Magic) {
		if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("protobuf: not a message of Kubernetes")
		}
		return meta, err
	}
	var kind manifest.Kind
	seen := false
	for {
		tag, err := s.varint(true)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return meta, err
		}
		switch tag {
		case manifest.BytesTag(1):
			m, err := s.field()
			if err == nil {
				kind, err = manifest.TypeMeta(m)
			}
			if err != nil {
				return meta, err
			}
		case manifest.BytesTag(2):
			// A server writes the type first. Without it the kind of the items is unknown.
			if sh.Listed != kind || seen {
				return meta, fmt.Errorf("it is a %s of %s", quote(kind.Kind), quote(kind.APIVersion))
			}
			seen = true
			if err := readItems(s, &meta, sh, yield); err != nil {
				return meta, err
			}
		case manifest.BytesTag(3):
			if encoding, err := s.field(); err != nil || len(encoding) > 0 {
				return meta, errors.Join(err, fmt.Errorf("protobuf: the list is encoded as %s", quote(string(encoding))))
			}
		default:
			if err := s.skip(tag); err != nil {
				return meta, err
			}
		}
	}
	if !seen {
		return meta, errors.New("protobuf: the message has no list")
	}
	return meta, nil
}

// readItems reads the list with its length prefix.
func readItems(s *stream, meta *listMeta, sh *manifest.Builder, yield func(*object.Object) error) error {
	length, err := s.varint(false)
	if err != nil {
		return err
	}
	if length > 1<<40 {
		return manifest.ErrMalformed
	}
	end := s.used + int64(length)
	m := sh.Metadata()
	for index := 1; s.used < end; {
		tag, err := s.varint(false)
		if err != nil {
			return err
		}
		switch tag {
		case manifest.BytesTag(1):
			text, err := s.field()
			if err == nil {
				err = meta.read(text)
			}
			if err != nil {
				return err
			}
		case manifest.BytesTag(2):
			item, err := s.field()
			if err == nil {
				err = m.Read(item)
			}
			if err != nil {
				return fmt.Errorf("item %d: %w", index, err)
			}
			index++
			if err := yield(sh.Object(m)); err != nil {
				return err
			}
		default:
			if err := s.skip(tag); err != nil {
				return err
			}
		}
	}
	if s.used != end {
		return manifest.ErrMalformed
	}
	return nil
}

// read decodes a metav1.ListMeta.
func (l *listMeta) read(text []byte) error {
	return manifest.Each(text, func(tag uint64, text []byte, _ uint64) error {
		switch tag {
		case manifest.BytesTag(2):
			l.resourceVersion = string(text)
		case manifest.BytesTag(3):
			l.more = string(text)
		}
		return nil
	})
}

// readPartial reads one PartialObjectMetadata with its envelope.
func readPartial(text []byte, sh *manifest.Builder) (*object.Object, error) {
	e, err := manifest.Open(text)
	if err != nil {
		return nil, err
	}
	if sh.Single != e.Kind {
		return nil, fmt.Errorf("it is a %s of %s", quote(e.Kind.Kind), quote(e.APIVersion))
	}
	m := sh.Metadata()
	if err := m.Read(e.Raw); err != nil {
		return nil, err
	}
	return sh.Object(m), nil
}
