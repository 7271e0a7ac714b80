package kube

import (
	"bufio"
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
	r *bufio.Reader
	// used is the number of bytes that were read.
	used int64
	// held has the bytes of the last take. failed is the error of r, except io.EOF.
	held   bytes.Buffer
	failed error
}

func newStream(r io.Reader) *stream { return &stream{r: bufio.NewReaderSize(r, 64<<10)} }

// take returns the next n bytes. They are valid until the next call. The buffer grows only with data
// that has really arrived.
func (s *stream) take(n int) ([]byte, error) {
	s.held.Reset()
	got, err := s.held.ReadFrom(io.LimitReader(s.r, int64(n)))
	if s.used += got; err == nil && got < int64(n) {
		err = manifest.ErrShort
	}
	return s.held.Bytes(), err
}

// ReadByte reads a byte of a number.
func (s *stream) ReadByte() (byte, error) {
	b, err := s.r.ReadByte()
	switch {
	case err == nil:
		s.used++
	case !errors.Is(err, io.EOF):
		s.failed = err
	}
	return b, err
}

// varint reads a number. At the end of the input it returns io.EOF if mayEnd is set.
func (s *stream) varint(mayEnd bool) (uint64, error) {
	v, err := binary.ReadUvarint(s)
	switch {
	case err == nil, mayEnd && err == io.EOF: //nolint:errorlint // nothing was read
		return v, err
	case s.failed != nil:
		return 0, s.failed
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return 0, manifest.ErrShort
	default:
		return 0, manifest.ErrMalformed
	}
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
