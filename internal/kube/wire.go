package kube

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The wire types of protobuf.
const (
	varintType  = 0
	fixed64Type = 1
	bytesType   = 2
	fixed32Type = 5
)

// tag is a field number and a wire type as they stand before a field.
type tag uint64

func bytesTag(field uint64) tag  { return tag(field<<3 | bytesType) }
func varintTag(field uint64) tag { return tag(field<<3 | varintType) }

var (
	errShort     = errors.New("protobuf: the message ends within a field")
	errMalformed = errors.New("protobuf: malformed message")
)

// wire is a protobuf message that is read from the front.
type wire struct{ rest []byte }

func (w *wire) more() bool { return len(w.rest) > 0 }

func (w *wire) varint() (uint64, error) {
	v, n := binary.Uvarint(w.rest)
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, errMalformed
	}
	w.rest = w.rest[n:]
	return v, nil
}

func (w *wire) tag() (tag, error) {
	v, err := w.varint()
	if err == nil && (v>>3 == 0 || v>>3 > 1<<29-1) {
		err = errMalformed
	}
	return tag(v), err
}

// bytes returns a field of bytes. It is a part of the message.
func (w *wire) bytes() ([]byte, error) {
	n, err := w.varint()
	if err != nil {
		return nil, err
	}
	if n > uint64(len(w.rest)) {
		return nil, errShort
	}
	field := w.rest[:n]
	w.rest = w.rest[n:]
	return field, nil
}

// skip passes over the field behind a tag. Groups, which nobody writes any more,
// are malformed.
func (w *wire) skip(t tag) error {
	n := 0
	switch t & 7 {
	case varintType:
		_, err := w.varint()
		return err
	case bytesType:
		_, err := w.bytes()
		return err
	case fixed64Type:
		n = 8
	case fixed32Type:
		n = 4
	default:
		return errMalformed
	}
	if n > len(w.rest) {
		return errShort
	}
	w.rest = w.rest[n:]
	return nil
}

// each calls field for each field of a message. Field reads what is behind the
// tag, or says that it does not know it.
func each(message []byte, field func(w *wire, t tag) (known bool, err error)) error {
	w := wire{message}
	for w.more() {
		t, err := w.tag()
		if err != nil {
			return err
		}
		known, err := field(&w, t)
		if err == nil && !known {
			err = w.skip(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// magic stands before every message of Kubernetes.
//
// Upstream: apimachinery/pkg/runtime/serializer/protobuf/protobuf.go protoEncodingPrefix.
var magic = []byte("k8s\x00")

// envelope is a runtime.Unknown: a message and what it is.
type envelope struct {
	apiVersion, kind string
	raw              []byte
}

// openEnvelope reads the envelope around a message.
func openEnvelope(text []byte) (envelope, error) {
	var e envelope
	if !bytes.HasPrefix(text, magic) {
		return e, errors.New("protobuf: not a message of Kubernetes")
	}
	err := each(text[len(magic):], func(w *wire, t tag) (bool, error) {
		switch t {
		case bytesTag(1):
			m, err := w.bytes()
			if err == nil {
				e.apiVersion, e.kind, err = typeMeta(m)
			}
			return true, err
		case bytesTag(2):
			var err error
			e.raw, err = w.bytes()
			return true, err
		case bytesTag(3), bytesTag(4):
			m, err := w.bytes()
			if err == nil && t == bytesTag(3) && len(m) > 0 {
				err = fmt.Errorf("protobuf: the message is encoded as %s", quote(string(m)))
			}
			return true, err
		}
		return false, nil
	})
	return e, err
}

// typeMeta reads a runtime.TypeMeta.
func typeMeta(message []byte) (apiVersion, kind string, err error) {
	err = each(message, func(w *wire, t tag) (bool, error) {
		if t != bytesTag(1) && t != bytesTag(2) {
			return false, nil
		}
		m, err := w.bytes()
		if t == bytesTag(1) {
			apiVersion = string(m)
		} else {
			kind = string(m)
		}
		return true, err
	})
	return apiVersion, kind, err
}
