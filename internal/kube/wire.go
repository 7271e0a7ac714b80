package kube

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// bytesTag is what stands before a field of bytes: its number and its type.
func bytesTag(field protowire.Number) uint64 { return protowire.EncodeTag(field, protowire.BytesType) }

// varintTag is what stands before a number.
func varintTag(field protowire.Number) uint64 {
	return protowire.EncodeTag(field, protowire.VarintType)
}

var (
	errShort     = fmt.Errorf("protobuf: the message ends within a field: %w", io.ErrUnexpectedEOF)
	errMalformed = errors.New("protobuf: malformed message")
)

// wireError is what a negative length of protowire says.
func wireError(n int) error {
	if errors.Is(protowire.ParseError(n), io.ErrUnexpectedEOF) {
		return errShort
	}
	return errMalformed
}

// each calls visit for each field of a message, with what it holds: text is a part of
// the message, or it is a number.
func each(message []byte, visit func(tag uint64, text []byte, number uint64) error) error {
	for len(message) > 0 {
		tag, n := protowire.ConsumeVarint(message)
		if n < 0 {
			return wireError(n)
		}
		field, kind := protowire.DecodeTag(tag)
		if !field.IsValid() {
			return errMalformed
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
			return wireError(n)
		}
		message = message[n:]
		if err := visit(tag, text, number); err != nil {
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
func openEnvelope(message []byte) (envelope, error) {
	var e envelope
	if !bytes.HasPrefix(message, magic) {
		return e, errors.New("protobuf: not a message of Kubernetes")
	}
	err := each(message[len(magic):], func(tag uint64, text []byte, _ uint64) (err error) {
		switch tag {
		case bytesTag(1):
			e.apiVersion, e.kind, err = typeMeta(text)
		case bytesTag(2):
			e.raw = text
		case bytesTag(3):
			if len(text) > 0 {
				err = fmt.Errorf("protobuf: the message is encoded as %s", quote(string(text)))
			}
		}
		return err
	})
	return e, err
}

// typeMeta reads a runtime.TypeMeta.
func typeMeta(message []byte) (apiVersion, kind string, err error) {
	err = each(message, func(tag uint64, text []byte, _ uint64) error {
		switch tag {
		case bytesTag(1):
			apiVersion = string(text)
		case bytesTag(2):
			kind = string(text)
		}
		return nil
	})
	return apiVersion, kind, err
}
