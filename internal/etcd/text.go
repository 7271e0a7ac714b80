package etcd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/message"
)

// Text returns the whole object of an entry as JSON, in its stored version, with the
// resourceVersion that a server would add.
func (d *Decoder) Text(e Entry) ([]byte, error) {
	version := strconv.FormatInt(e.Revision, 10)
	switch {
	case bytes.HasPrefix(e.Value, message.Magic):
		return d.typedText(e.Value, version)
	case bytes.HasPrefix(e.Value, []byte{'{'}):
		return versioned(e.Value, version)
	default:
		return nil, notRead(e)
	}
}

// typedText returns a message as JSON.
func (d *Decoder) typedText(value []byte, version string) ([]byte, error) {
	e, err := message.Open(value)
	if err != nil {
		return nil, err
	}
	if !d.fits(e.Raw) {
		return nil, fmt.Errorf("%w: decoding it could take more than %s", manifest.ErrLimit, manifest.Size(int64(d.h.Limits.ParsedBytes)))
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
	err := message.Each(is, func(tag uint64, text []byte, _ uint64) error {
		now[tag] = append(now[tag], text)
		return nil
	})
	lost := false
	err = errors.Join(err, message.Each(was, func(tag uint64, text []byte, number uint64) error {
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
