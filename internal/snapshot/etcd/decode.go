package etcd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// SealedError says that a value cannot be read because it is encrypted.
type SealedError struct {
	// By is the encryption, as in the configuration of the API server: aescbc or kms.
	By string
}

// Error returns the encryption.
func (e SealedError) Error() string { return "it is encrypted (" + e.By + ")" }

// sealedMagic is the prefix of every encrypted value.
//
// All transformers in k8s.io/apiserver/pkg/server/options/encryptionconfig use it.
var sealedMagic = []byte("k8s:enc:")

// DecoderOptions configures the decoding of objects.
type DecoderOptions struct {
	Strings *manifest.Interner
	Limits  manifest.Limits
	// Wants and Raw are as in manifest.Handler: Raw receives the JSON of each object for which
	// Wants returns fields, possibly more of it. A nil Raw receives none.
	Wants func(o *object.Object) *manifest.Fields
	Raw   func(o *object.Object, text []byte) error
}

// Decoder decodes the objects in values of keys.
type Decoder struct {
	h     DecoderOptions
	kinds map[manifest.Kind]*kindDecoder
	texts *manifest.Texts
	// got are the objects of the text that was read last.
	got []*object.Object
}

// kindDecoder decodes messages of one kind.
type kindDecoder struct {
	manifest.Kind
	builder  *manifest.Builder
	metadata *manifest.Metadata
	// whole is true if metadata alone is not enough.
	whole bool
}

// NewDecoder returns a Decoder.
func NewDecoder(h DecoderOptions) *Decoder {
	d := &Decoder{h: h, kinds: map[manifest.Kind]*kindDecoder{}}
	d.texts = manifest.NewTexts(manifest.Options{File: "its value", Interner: h.Strings, Limits: h.Limits}, manifest.Handler{
		Object: func(o *object.Object, inList bool, _ manifest.Position) error {
			if inList {
				return errors.New("it is a list")
			}
			d.got = append(d.got, o)
			return nil
		},
		Wants: h.Wants, Raw: h.Raw,
	})
	return d
}

// Decode returns the object of an entry.
func (d *Decoder) Decode(e Entry) (o *object.Object, err error) {
	switch {
	case bytes.HasPrefix(e.Value, manifest.Magic):
		o, err = d.message(e.Value)
	case bytes.HasPrefix(e.Value, []byte{'{'}):
		o, err = d.text(e.Value)
	default:
		err = notRead(e)
	}
	if err != nil {
		return nil, err
	}
	o.ResourceVersion = strconv.FormatInt(e.Revision, 10)
	return o, nil
}

// notRead returns why a value cannot be read.
func notRead(e Entry) error {
	if bytes.HasPrefix(e.Value, sealedMagic) {
		by, _, _ := strings.Cut(string(e.Value[len(sealedMagic):min(len(e.Value), 64)]), ":")
		return SealedError{by}
	}
	return fmt.Errorf("it is neither protobuf nor JSON, but begins with %q", e.Value[:min(len(e.Value), 16)])
}

// message decodes a protobuf message of Kubernetes.
func (d *Decoder) message(value []byte) (*object.Object, error) {
	e, err := manifest.Open(value)
	if err != nil {
		return nil, err
	}
	if e.APIVersion == "" || e.Kind.Kind == "" {
		return nil, errors.New("its kind is missing")
	}
	k := d.kinds[e.Kind]
	if k == nil {
		k = d.newKind(e.Kind)
	}
	if k.whole {
		if err := d.checkSize(e.Raw); err != nil {
			return nil, err
		}
		text, err := textOf(e)
		if err != nil {
			return nil, err
		}
		if text != nil {
			return d.text(text)
		}
	}
	if err := k.metadata.Read(e.Raw); err != nil {
		return nil, err
	}
	o := k.builder.Object(k.metadata)
	if d.h.Raw == nil || d.h.Wants != nil && d.h.Wants(o) == nil {
		return o, nil
	}
	if d.checkSize(e.Raw) != nil {
		return o, d.h.Raw(o, nil)
	}
	text, err := textOf(e)
	if err != nil {
		return nil, err
	}
	return o, d.h.Raw(o, text)
}

// fieldBytes is the approximate decoded size of a field that is a message, even of two bytes.
const fieldBytes = 2 << 10

// checkSize returns an error if the decoded form of a message may exceed the limit.
func (d *Decoder) checkSize(raw []byte) error {
	most := d.h.Limits.ParsedBytes / fieldBytes
	if len(raw)/2 <= most || manifest.CountFields(raw, most) <= most {
		return nil
	}
	return fmt.Errorf("%w: decoding it could take more than %s", manifest.ErrLimit, manifest.Size(int64(d.h.Limits.ParsedBytes)))
}

func (d *Decoder) newKind(name manifest.Kind) *kindDecoder {
	k := &kindDecoder{Kind: name, builder: manifest.NewStored(name.APIVersion, name.Kind, d.h.Strings)}
	k.metadata = k.builder.Metadata()
	k.whole = !k.builder.Pods() &&
		(manifest.HasFacts(name.APIVersion, name.Kind) || object.HasOutsideFacts(object.GroupOf(name.APIVersion), name.Kind))
	d.kinds[name] = k
	return k
}

// text decodes the JSON text of one object.
func (d *Decoder) text(text []byte) (*object.Object, error) {
	d.got = d.got[:0]
	if err := d.texts.Read(text); err != nil {
		return nil, err
	}
	if len(d.got) != 1 {
		return nil, fmt.Errorf("it holds %d objects", len(d.got))
	}
	return d.got[0], nil
}

// textOf returns a message as JSON; nil for a kind without a known Go type.
func textOf(e manifest.Envelope) ([]byte, error) {
	o, err := typed(e)
	if o == nil || err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// typed returns a message as an object of its Go type; nil for a kind without a known one.
func typed(e manifest.Envelope) (runtime.Object, error) {
	o, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(e.APIVersion, e.Kind.Kind))
	if runtime.IsNotRegisteredError(err) {
		return nil, nil
	}
	m, ok := o.(interface{ Unmarshal(message []byte) error })
	if err != nil || !ok {
		return nil, fmt.Errorf("%s %s is no message", e.APIVersion, e.Kind.Kind)
	}
	if err := m.Unmarshal(e.Raw); err != nil {
		return nil, err
	}
	o.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(e.APIVersion, e.Kind.Kind))
	return o, nil
}

// Text returns the whole object of an entry as JSON, in its stored version, with the
// resourceVersion that a server would add.
func (d *Decoder) Text(e Entry) ([]byte, error) {
	version := strconv.FormatInt(e.Revision, 10)
	switch {
	case bytes.HasPrefix(e.Value, manifest.Magic):
		return d.typedText(e.Value, version)
	case bytes.HasPrefix(e.Value, []byte{'{'}):
		return versioned(e.Value, version)
	default:
		return nil, notRead(e)
	}
}

// typedText returns a message as JSON.
func (d *Decoder) typedText(value []byte, version string) ([]byte, error) {
	e, err := manifest.Open(value)
	if err != nil {
		return nil, err
	}
	if err := d.checkSize(e.Raw); err != nil {
		return nil, err
	}
	o, err := typed(e)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, fmt.Errorf("the fields of %s %s are not known to this program", e.APIVersion, e.Kind.Kind)
	}
	m, ok := o.(interface {
		metav1.Object
		Marshal() ([]byte, error)
	})
	if !ok {
		return nil, fmt.Errorf("%s %s has no metadata", e.APIVersion, e.Kind.Kind)
	}
	again, err := m.Marshal()
	if err != nil {
		return nil, err
	}
	if drops(e.Raw, again) {
		return nil, fmt.Errorf("it has fields of %s %s that this program does not know: a newer Kubernetes has written it", e.APIVersion, e.Kind.Kind)
	}
	m.SetResourceVersion(version)
	return json.Marshal(o)
}

// drops reports whether fields of a message are lost after decoding and encoding it with a Go type
// that doesn't know them. Empty fields don't count.
func drops(was, is []byte) bool {
	if bytes.Equal(was, is) {
		return false
	}
	now := map[uint64][][]byte{}
	err := manifest.Each(is, func(tag uint64, text []byte, _ uint64) error {
		now[tag] = append(now[tag], text)
		return nil
	})
	lost := false
	err = errors.Join(err, manifest.Each(was, func(tag uint64, text []byte, number uint64) error {
		switch left := now[tag]; {
		case len(left) > 0:
			lost = lost || drops(text, left[0])
			now[tag] = left[1:]
		case len(text) > 0 || number != 0:
			lost = true
		}
		return nil
	}))
	return lost && err == nil // otherwise it is no message, only another encoding
}

// versioned returns the JSON text of an object with its resourceVersion, which isn't stored with
// it.
func versioned(text []byte, version string) ([]byte, error) {
	var object, metadata map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(object["metadata"], &metadata); err != nil {
		return nil, fmt.Errorf("its metadata: %w", err)
	}
	if metadata == nil {
		return nil, errors.New("its metadata is missing")
	}
	metadata["resourceVersion"] = json.RawMessage(strconv.Quote(version))
	text, err := json.Marshal(metadata)
	if err != nil {
		return nil, err
	}
	object["metadata"] = text
	return json.Marshal(object)
}

// RenewTime returns the last renewal of a Lease in seconds since 1970; 0 for none, and for a Lease
// that is not protobuf. An etcd file has no clock, but regularly renewed objects tell the time.
func RenewTime(value []byte) (int64, error) {
	e, err := manifest.Open(value)
	if err != nil {
		return 0, nil //nolint:nilerr // it says nothing
	}
	// The numbers are those of coordination/v1 generated.proto: spec and its renewTime.
	at, err := manifest.FieldAt(e.Raw, manifest.BytesTag(2), manifest.BytesTag(4))
	if err != nil {
		return 0, err
	}
	var seconds uint64
	err = manifest.Each(at, func(tag uint64, _ []byte, number uint64) error {
		if tag == manifest.VarintTag(1) {
			seconds = number
		}
		return nil
	})
	if err != nil || seconds > latest {
		return 0, err
	}
	return int64(seconds), nil
}

// latest is the last second of the year 9999. Later times can't be formatted.
const latest = 253402300799

// KubeletVersion returns the kubelet's version in a Node; "" for none, and for a Node that is not
// protobuf. An etcd file lacks the version of its API server, but no kubelet is newer.
func KubeletVersion(value []byte) (string, error) {
	e, err := manifest.Open(value)
	if err != nil {
		return "", nil //nolint:nilerr // it says nothing
	}
	// The numbers are those of core/v1 generated.proto: status, nodeInfo, kubeletVersion.
	text, err := manifest.FieldAt(e.Raw, manifest.BytesTag(3), manifest.BytesTag(7), manifest.BytesTag(7))
	return string(text), err
}
