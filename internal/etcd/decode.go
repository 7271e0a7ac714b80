package etcd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/message"
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

// Handling configures the decoding of objects.
type Handling struct {
	Strings *manifest.Interner
	Limits  manifest.Limits
	// Wants and Raw are as in manifest.Handler: Raw receives the JSON of each object for which
	// Wants returns fields, possibly more of it. A nil Raw receives none.
	Wants func(o *object.Object) *manifest.Fields
	Raw   func(o *object.Object, text []byte) error
}

// Decoder decodes the objects in values of keys.
type Decoder struct {
	h     Handling
	kinds map[message.Kind]*kindDecoder
	texts *manifest.Texts
	// got are the objects of the text that was read last.
	got []*object.Object
}

// kindDecoder decodes messages of one kind.
type kindDecoder struct {
	message.Kind
	builder  *message.Builder
	metadata *message.Metadata
	// whole is true if metadata alone is not enough.
	whole bool
}

// NewDecoder returns a Decoder.
func NewDecoder(h Handling) *Decoder {
	d := &Decoder{h: h, kinds: map[message.Kind]*kindDecoder{}}
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
	case bytes.HasPrefix(e.Value, message.Magic):
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
	e, err := message.Open(value)
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
		if !d.fits(e.Raw) {
			return nil, fmt.Errorf("%w: decoding it could take more than %s", manifest.ErrLimit, manifest.Size(int64(d.h.Limits.ParsedBytes)))
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
	if !d.fits(e.Raw) {
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

// fits reports whether the decoded form of a message stays within the limit.
func (d *Decoder) fits(raw []byte) bool {
	most := d.h.Limits.ParsedBytes / fieldBytes
	return len(raw)/2 <= most || message.Fields(raw, most) <= most
}

func (d *Decoder) newKind(name message.Kind) *kindDecoder {
	k := &kindDecoder{Kind: name, builder: message.NewStored(name.APIVersion, name.Kind, d.h.Strings)}
	k.metadata = k.builder.Metadata()
	k.whole = manifest.HasFacts(name.APIVersion, name.Kind) && !k.builder.Pods()
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
func textOf(e message.Envelope) ([]byte, error) {
	o, err := typed(e)
	if o == nil || err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// typed returns a message as an object of its Go type; nil for a kind without a known one.
func typed(e message.Envelope) (runtime.Object, error) {
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
