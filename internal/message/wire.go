// Package message reads objects of Kubernetes from protobuf, in responses and in storage: the
// metadata, which has the same field number in every kind, and the fields that the deletion of pods
// depends on. It needs no Go types. Package manifest is its counterpart for text.
package message

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// BytesTag returns the tag of a bytes field.
func BytesTag(field protowire.Number) uint64 { return protowire.EncodeTag(field, protowire.BytesType) }

// VarintTag returns the tag of a number field.
func VarintTag(field protowire.Number) uint64 {
	return protowire.EncodeTag(field, protowire.VarintType)
}

// The errors of a malformed message.
var (
	ErrShort     = fmt.Errorf("protobuf: the message ends within a field: %w", io.ErrUnexpectedEOF)
	ErrMalformed = errors.New("protobuf: malformed message")
)

// WireError returns the error for a negative length of protowire.
func WireError(n int) error {
	if errors.Is(protowire.ParseError(n), io.ErrUnexpectedEOF) {
		return ErrShort
	}
	return ErrMalformed
}

// Each calls visit for each field of a message with its value: text is a part of the message,
// number is set for a varint.
func Each(message []byte, visit func(tag uint64, text []byte, number uint64) error) error {
	for len(message) > 0 {
		tag, n := protowire.ConsumeVarint(message)
		if n < 0 {
			return WireError(n)
		}
		field, kind := protowire.DecodeTag(tag)
		if !field.IsValid() {
			return ErrMalformed
		}
		message = message[n:]
		var text []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			text, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return WireError(n)
		}
		message = message[n:]
		if err := visit(tag, text, number); err != nil {
			return err
		}
	}
	return nil
}

// Fields counts the fields of a message that may be messages, recursively, up to about most. Text
// that looks like a message is counted, too.
func Fields(message []byte, most int) (count int) {
	for len(message) > 0 && count <= most {
		tag, n := protowire.ConsumeVarint(message)
		if n < 0 {
			return count
		}
		field, kind := protowire.DecodeTag(tag)
		if !field.IsValid() {
			return count
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(field, kind, message); n < 0 {
			return count
		}
		if kind == protowire.BytesType {
			text, _ := protowire.ConsumeBytes(message)
			count += 1 + Fields(text, most-count-1)
		}
		message = message[n:]
	}
	return count
}

// Magic is the prefix of every message of Kubernetes.
//
// Upstream: apimachinery/pkg/runtime/serializer/protobuf/protobuf.go protoEncodingPrefix.
var Magic = []byte("k8s\x00")

// Envelope is a runtime.Unknown: a message and its kind.
type Envelope struct {
	Kind
	Raw []byte
}

// Open reads the envelope of a message.
func Open(message []byte) (Envelope, error) {
	var e Envelope
	if !bytes.HasPrefix(message, Magic) {
		return e, errors.New("protobuf: not a message of Kubernetes")
	}
	err := Each(message[len(Magic):], func(tag uint64, text []byte, _ uint64) (err error) {
		switch tag {
		case BytesTag(1):
			e.Kind, err = TypeMeta(text)
		case BytesTag(2):
			e.Raw = text
		case BytesTag(3):
			if len(text) > 0 {
				err = fmt.Errorf("protobuf: the message is encoded as %s", strconv.Quote(string(text)))
			}
		}
		return err
	})
	return e, err
}

// TypeMeta reads a runtime.TypeMeta.
func TypeMeta(message []byte) (k Kind, err error) {
	err = Each(message, func(tag uint64, text []byte, _ uint64) error {
		switch tag {
		case BytesTag(1):
			k.APIVersion = string(text)
		case BytesTag(2):
			k.Kind = string(text)
		}
		return nil
	})
	return k, err
}

// First returns the bytes field with number 1; empty if there is none.
func First(message []byte) (field []byte, err error) {
	err = Each(message, func(tag uint64, text []byte, _ uint64) error {
		if tag == BytesTag(1) {
			field = text
		}
		return nil
	})
	return field, err
}
