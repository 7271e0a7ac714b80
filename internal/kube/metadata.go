package kube

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// metadata is an ObjectMeta while it is being read: the parts of the message
// that are kept. It is used again for the next one.
type metadata struct {
	name, namespace, uid, version []byte
	created, deleted, generation  int64
	grace                         int64
	hasGrace                      bool
	protection                    object.Protection
	revision                      uint32
	labels                        []pair
	owners                        []ownerParts
	finalizers                    [][]byte
	// account and accountUID are what a Secret says of the ServiceAccount whose token it is.
	account, accountUID []byte
	scratch             []byte
	// pod is what is read beside the metadata of a pod; nil for every other kind.
	pod *podParts
}

type pair struct{ key, value []byte }

type ownerParts struct {
	apiVersion, kind, name, uid []byte
	controller, block           object.Flag
}

func (m *metadata) reset() {
	*m = metadata{labels: m.labels[:0], owners: m.owners[:0], finalizers: m.finalizers[:0], scratch: m.scratch[:0], pod: m.pod}
	if m.pod != nil {
		m.pod.reset()
	}
}

// read reads a PartialObjectMetadata, or a pod: field 1 is the ObjectMeta, and of a
// pod 2 and 3 are spec and status. As every reader of protobuf does it merges a
// field that is there twice.
func (m *metadata) read(message []byte) error {
	m.reset()
	w := wire{message}
	for w.more() {
		t, err := w.tag()
		if err != nil {
			return err
		}
		if t != bytesTag(1) && (m.pod == nil || t != bytesTag(2) && t != bytesTag(3)) {
			if err := w.skip(t); err != nil {
				return err
			}
			continue
		}
		part, err := w.bytes()
		switch {
		case err != nil:
		case t == bytesTag(1):
			err = m.objectMeta(part)
		case t == bytesTag(2):
			m.pod.whole = true
			err = m.pod.spec(part)
		default:
			err = m.pod.status(part)
		}
		if err != nil {
			return err
		}
	}
	return m.check()
}

// objectMeta reads a metav1.ObjectMeta. The numbers are those of generated.proto.
func (m *metadata) objectMeta(message []byte) error {
	w := wire{message}
	for w.more() {
		t, err := w.tag()
		if err != nil {
			return err
		}
		switch t {
		case bytesTag(1):
			m.name, err = w.bytes()
		case bytesTag(3):
			m.namespace, err = w.bytes()
		case bytesTag(5):
			m.uid, err = w.bytes()
		case bytesTag(6):
			m.version, err = w.bytes()
		case varintTag(7):
			m.generation, err = w.int64()
		case bytesTag(8):
			m.created, err = w.seconds()
		case bytesTag(9):
			m.deleted, err = w.seconds()
		case varintTag(10):
			m.grace, err = w.int64()
			m.hasGrace = true
		case bytesTag(11):
			err = m.label(&w)
		case bytesTag(12):
			err = m.annotation(&w)
		case bytesTag(13):
			err = m.owner(&w)
		case bytesTag(14):
			var f []byte
			f, err = w.bytes()
			m.finalizers = append(m.finalizers, f)
		default:
			err = w.skip(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *wire) int64() (int64, error) {
	v, err := w.varint()
	return int64(v), err
}

// seconds reads a Timestamp. An empty one is no time at all; the very start of
// 1970 cannot be told from that, and nothing was created then.
func (w *wire) seconds() (int64, error) {
	message, err := w.bytes()
	if err != nil || len(message) == 0 {
		return 0, err
	}
	var at int64
	inner := wire{message}
	for inner.more() {
		t, err := inner.tag()
		if err != nil {
			return 0, err
		}
		if t == varintTag(1) {
			at, err = inner.int64()
		} else {
			err = inner.skip(t)
		}
		if err != nil {
			return 0, err
		}
	}
	if at == 0 {
		return 0, errors.New("a time is the very start of 1970, which stands for no time at all")
	}
	return at, nil
}

// label reads an entry of the map of labels.
func (m *metadata) label(w *wire) error {
	p, err := w.pair()
	m.labels = append(m.labels, p)
	return err
}

// pair reads an entry of a map of strings.
func (w *wire) pair() (p pair, err error) {
	message, err := w.bytes()
	if err != nil {
		return p, err
	}
	inner := wire{message}
	for inner.more() {
		t, err := inner.tag()
		if err != nil {
			return p, err
		}
		switch t {
		case bytesTag(1):
			p.key, err = inner.bytes()
		case bytesTag(2):
			p.value, err = inner.bytes()
		default:
			err = inner.skip(t)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// annotation reads an entry of the map of annotations, of which few matter. Of a key
// that is there twice the last one counts, as for a map.
func (m *metadata) annotation(w *wire) error {
	p, err := w.pair()
	if err != nil {
		return err
	}
	switch string(p.key) {
	case object.ProtectAnnotation:
		m.protection = m.protection&^object.Protect | object.ProtectionBy(object.ProtectAnnotation, string(p.value))
	case object.ResourcePolicyAnnotation:
		m.protection = m.protection&^object.HelmKeep | object.ProtectionBy(object.ResourcePolicyAnnotation, string(p.value))
	case object.RevisionAnnotation:
		m.revision = object.RevisionBy(string(p.value))
	case object.AccountNameAnnotation:
		m.account = p.value
	case object.AccountUIDAnnotation:
		m.accountUID = p.value
	case corev1.MirrorPodAnnotationKey:
		if m.pod != nil {
			m.pod.mirror = true
		}
	}
	return nil
}

// owner reads an OwnerReference.
func (m *metadata) owner(w *wire) error {
	message, err := w.bytes()
	if err != nil {
		return err
	}
	var o ownerParts
	inner := wire{message}
	for inner.more() {
		t, err := inner.tag()
		if err != nil {
			return err
		}
		switch t {
		case bytesTag(1):
			o.kind, err = inner.bytes()
		case bytesTag(3):
			o.name, err = inner.bytes()
		case bytesTag(4):
			o.uid, err = inner.bytes()
		case bytesTag(5):
			o.apiVersion, err = inner.bytes()
		case varintTag(6):
			o.controller, err = inner.flag()
		case varintTag(7):
			o.block, err = inner.flag()
		default:
			err = inner.skip(t)
		}
		if err != nil {
			return err
		}
	}
	m.owners = append(m.owners, o)
	return nil
}

func (w *wire) flag() (object.Flag, error) {
	v, err := w.varint()
	b := v != 0
	return object.FlagOf(&b), err
}

// check refuses what has no name, and NULs where they are taken for ends: in the
// canonical form of labels and in the keys of what is shared. It orders the labels. Of a key that is there twice the last one counts,
// as for a map.
func (m *metadata) check() error {
	if len(m.name) == 0 {
		return errors.New("metadata.name is missing")
	}
	for _, l := range m.labels {
		if bytes.IndexByte(l.key, 0) >= 0 || bytes.IndexByte(l.value, 0) >= 0 {
			return fmt.Errorf("a label of %s has a NUL", quote(string(m.name)))
		}
	}
	for _, f := range m.finalizers {
		if bytes.IndexByte(f, 0) >= 0 {
			return fmt.Errorf("a finalizer of %s has a NUL", quote(string(m.name)))
		}
	}
	if m.pod != nil && (bytes.IndexByte(m.pod.node, 0) >= 0 || bytes.IndexByte(m.pod.phase, 0) >= 0) {
		return fmt.Errorf("the node or phase of %s has a NUL", quote(string(m.name)))
	}
	byKey := func(a, b pair) int { return bytes.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(m.labels, byKey) {
		slices.SortStableFunc(m.labels, byKey)
	}
	kept := m.labels[:0]
	for i, l := range m.labels {
		if i+1 == len(m.labels) || !bytes.Equal(l.key, m.labels[i+1].key) {
			kept = append(kept, l)
		}
	}
	m.labels = kept
	return nil
}
