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

// SealedError says that a value cannot be read here, for it is encrypted.
type SealedError struct {
	// By is how, as in the configuration of the API server: aescbc or kms.
	By string
}

// Error says it.
func (e SealedError) Error() string { return "it is encrypted (" + e.By + ")" }

// sealedMagic stands before every value that is encrypted.
//
// It is what all transformers of k8s.io/apiserver/pkg/server/options/encryptionconfig begin with.
var sealedMagic = []byte("k8s:enc:")

// Handling says how to read objects.
type Handling struct {
	Strings *manifest.Interner
	Limits  manifest.Limits
	// Wants and Raw are as in manifest.Handler: Raw is given the JSON of each object of which
	// Wants asks for anything, or more of it. Nil: of none.
	Wants func(o *object.Object) *manifest.Fields
	Raw   func(o *object.Object, text []byte) error
}

// Decoder makes objects of what keys hold.
type Decoder struct {
	h     Handling
	kinds map[message.Kind]*kindDecoder
	texts *manifest.Texts
	// got are the objects of the text that was read last.
	got []*object.Object
}

// kindDecoder is for messages of one kind.
type kindDecoder struct {
	message.Kind
	builder  *message.Builder
	metadata *message.Metadata
	// whole: metadata alone would not do.
	whole bool
}

// NewDecoder makes one.
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

// Decode makes the object of an entry.
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

// notRead says why a value cannot be read.
func notRead(e Entry) error {
	if bytes.HasPrefix(e.Value, sealedMagic) {
		by, _, _ := strings.Cut(string(e.Value[len(sealedMagic):min(len(e.Value), 64)]), ":")
		return SealedError{by}
	}
	return fmt.Errorf("it is neither protobuf nor JSON, but begins with %q", e.Value[:min(len(e.Value), 16)])
}

// message reads a message of Kubernetes.
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

// fieldBytes is about how much a type makes of a field that is a message, be it of two bytes.
const fieldBytes = 2 << 10

// fits reports whether there is room for what a type makes of a message.
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

// text reads a JSON text of one object.
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

// textOf is a message as JSON; nil for a kind of which the type is not known.
func textOf(e message.Envelope) ([]byte, error) {
	o, err := typed(e)
	if o == nil || err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// typed is a message as an object of its type; nil for a kind of which the type is not known.
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
