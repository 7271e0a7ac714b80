package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
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

// CountFields counts the fields of a message that may be messages, recursively, up to about most.
// Text that looks like a message is counted, too.
func CountFields(message []byte, most int) (count int) {
	_ = Each(message, func(tag uint64, text []byte, _ uint64) error { // what is no message ends the count
		if _, kind := protowire.DecodeTag(tag); kind == protowire.BytesType {
			count += 1 + CountFields(text, most-count-1)
		}
		if count > most {
			return ErrMalformed
		}
		return nil
	})
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

// FieldAt returns the bytes field that a path of tags leads to; nil if there is none.
func FieldAt(message []byte, path ...uint64) ([]byte, error) {
	for _, tag := range path {
		var found []byte
		if err := Each(message, func(at uint64, part []byte, _ uint64) error {
			if at == tag {
				found = part
			}
			return nil
		}); err != nil {
			return nil, err
		}
		message = found
	}
	return message, nil
}

// Builder builds objects of one resource and interns repeated parts: namespaces, label sets, lists
// of finalizers, and the owner references of siblings. It must be used by one goroutine.
type Builder struct {
	apiVersion, kind string
	strings          *Interner
	// pods is true if the messages are whole pods: spec and status are read, too.
	pods bool
	// stored is true if the messages are whole objects of any kind.
	stored bool
	// Listed and Single are the kinds of the messages in a server's responses.
	Listed, Single Kind
}

// Kind is the type of a message.
type Kind struct{ APIVersion, Kind string }

// mostShared bounds each cache of a builder for a watch, which can run for months. Evicted entries
// are only not shared any more.
const mostShared = 1 << 15

// The kinds of metadata-only responses.
const (
	MetaVersion = "meta.k8s.io/v1"
	PartialKind = "PartialObjectMetadata"
	PartialList = "PartialObjectMetadataList"
)

// NewBuilder returns a Builder for metadata-only responses.
func NewBuilder(r object.Resource) *Builder {
	strings := NewInterner()
	strings.Most = mostShared
	return &Builder{
		apiVersion: r.APIVersion(), kind: r.Kind, strings: strings,
		Listed: Kind{MetaVersion, PartialList}, Single: Kind{MetaVersion, PartialKind},
	}
}

// NewPods returns a Builder for responses with whole pods.
func NewPods(r object.Resource) *Builder {
	b := NewBuilder(r)
	b.pods = true
	b.Listed, b.Single = Kind{"v1", "PodList"}, Kind{"v1", object.Pod.Kind}
	return b
}

// NewStored returns a Builder for stored objects of a kind, which are whole. The strings are shared
// with other builders.
func NewStored(apiVersion, kind string, strings *Interner) *Builder {
	return &Builder{apiVersion: apiVersion, kind: kind, strings: strings, stored: true, pods: kind == object.Pod.Kind && apiVersion == "v1"}
}

// Pods reports whether the messages are whole pods, so that no other decoding is needed.
func (b *Builder) Pods() bool { return b.pods }

// Metadata returns a buffer for reading messages of this kind.
func (b *Builder) Metadata() *Metadata {
	m := &Metadata{}
	m.typed = b.stored && b.secrets()
	m.records = b.stored && b.apiVersion == "v1" && (b.kind == object.Secret.Kind || b.kind == object.ConfigMap.Kind)
	if b.pods {
		m.pod = &podParts{strings: b.strings}
	}
	return m
}

// Object builds the object that m has read.
func (b *Builder) Object(m *Metadata) *object.Object {
	o := m.build(b.strings)
	o.APIVersion, o.Kind = b.apiVersion, b.kind
	if b.secrets() {
		if token := object.TokenBy(string(m.account), types.UID(m.accountUID), string(m.secretType)); token != nil {
			o.Lifecycle = b.strings.WithFacts(o.Lifecycle, nil, func() object.Facts { return token })
		}
	}
	if len(m.record) > 0 {
		decode := func(written io.Reader) (*object.HelmReleaseFacts, error) {
			return decodeHelm(written, Limits{}.withDefaults())
		}
		record := helmRecord{text: m.record, decode: decode}
		if f := record.facts(o, bytes.NewReader(m.record)); f != nil {
			o.Lifecycle = b.strings.WithFacts(o.Lifecycle, nil, func() object.Facts { return f })
		}
	}
	if m.pod != nil {
		o.Lifecycle = m.pod.add(o.Lifecycle, o.Name)
	}
	return o
}

func (b *Builder) secrets() bool { return b.kind == "Secret" && b.apiVersion == "v1" }
