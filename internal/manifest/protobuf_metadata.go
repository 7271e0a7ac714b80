package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Metadata is the buffer for reading an ObjectMeta: the parts of the message that are kept. It is
// reused for the next message.
type Metadata struct {
	name, namespace, uid, version []byte
	created, generation           int64
	labels                        []pair
	owners                        []Owner
	Lifecycle
	// account and accountUID are the annotations of a token Secret that name its ServiceAccount.
	account, accountUID []byte
	// secretType is the type of a Secret. It is read only if typed is true.
	secretType []byte
	typed      bool
	// record is the field release of the data of a Secret or ConfigMap, in which Helm records a release.
	// It is read only if records is true.
	record  []byte
	records bool
	// pod has the other parts of a pod; nil for every other kind.
	pod *podParts
}

type pair struct{ key, value []byte }

func (m *Metadata) reset() {
	*m = Metadata{labels: m.labels[:0], owners: m.owners[:0], pod: m.pod, typed: m.typed, records: m.records, Lifecycle: Lifecycle{Finalizers: m.Finalizers[:0]}}
	if m.pod != nil {
		m.pod.facts = object.PodFacts{}
	}
}

// Read reads a PartialObjectMetadata, or an object: field 1 is the ObjectMeta, 2 and 3 are spec and
// status of a pod, 2 is the data of a Secret or ConfigMap, and 3 is the type of a Secret. As every protobuf reader does, it merges a field
// that occurs twice.
func (m *Metadata) Read(message []byte) error {
	m.reset()
	if err := Each(message, func(tag uint64, text []byte, _ uint64) error {
		switch {
		case tag == BytesTag(1):
			return m.objectMeta(text)
		case tag == BytesTag(2) && m.pod != nil:
			return m.pod.spec(text)
		case tag == BytesTag(2) && m.records:
			entry, err := pairOf(text)
			if string(entry.key) == "release" {
				m.record = entry.value
			}
			return err
		case tag == BytesTag(3) && m.pod != nil:
			return m.pod.status(text)
		case tag == BytesTag(3) && m.typed:
			m.secretType = text
		}
		return nil
	}); err != nil {
		return err
	}
	return m.check()
}

// ResourceVersion returns the resourceVersion that was read.
func (m *Metadata) ResourceVersion() string { return string(m.version) }

// objectMeta reads a metav1.ObjectMeta. The numbers are those of generated.proto.
func (m *Metadata) objectMeta(message []byte) error {
	return Each(message, func(tag uint64, text []byte, number uint64) (err error) {
		switch tag {
		case BytesTag(1):
			m.name = text
		case BytesTag(3):
			m.namespace = text
		case BytesTag(5):
			m.uid = text
		case BytesTag(6):
			m.version = text
		case VarintTag(7):
			m.generation = int64(number)
		case BytesTag(8):
			m.created, err = seconds(text)
		case BytesTag(9):
			m.Deleted, err = seconds(text)
		case VarintTag(10):
			m.Grace, m.HasGrace = int64(number), true
		case BytesTag(11):
			var label pair
			label, err = pairOf(text)
			m.labels = append(m.labels, label)
		case BytesTag(12):
			err = m.annotation(text)
		case BytesTag(13):
			err = m.owner(text)
		case BytesTag(14):
			m.Finalizers = append(m.Finalizers, text)
		}
		return err
	})
}

// seconds reads a Timestamp. An empty one means no time. The start of 1970 can't be distinguished
// from that, and no object was created then.
func seconds(message []byte) (at int64, err error) {
	err = Each(message, func(tag uint64, _ []byte, number uint64) error {
		if tag == VarintTag(1) {
			at = int64(number)
		}
		return nil
	})
	if err == nil && at == 0 && len(message) > 0 {
		err = errors.New("a time is the very start of 1970, which means no time at all")
	}
	return at, err
}

// pairOf reads an entry of a map of strings.
func pairOf(message []byte) (p pair, err error) {
	err = Each(message, func(tag uint64, text []byte, _ uint64) error {
		switch tag {
		case BytesTag(1):
			p.key = text
		case BytesTag(2):
			p.value = text
		}
		return nil
	})
	return p, err
}

// annotation reads an entry of the annotations, of which few are kept. If a key occurs twice, the
// last one wins, as in a map.
func (m *Metadata) annotation(message []byte) error {
	p, err := pairOf(message)
	if err != nil {
		return err
	}
	switch string(p.key) {
	case object.ProtectAnnotation:
		m.Protection = m.Protection&^object.Protect | object.ProtectionBy(object.ProtectAnnotation, string(p.value))
	case object.ResourcePolicyAnnotation:
		m.Protection = m.Protection&^(object.HelmKeep|object.ArgoHelmKeep) | object.ProtectionBy(object.ResourcePolicyAnnotation, string(p.value))
	case object.SyncOptionsAnnotation:
		m.Protection = m.Protection&^(object.ArgoKeep|object.ArgoConfirm) | object.ProtectionBy(object.SyncOptionsAnnotation, string(p.value))
	case object.FluxPruneKey, object.FluxReconcileKey, object.FluxApplyKey:
		m.Protection |= object.ProtectionBy(string(p.key), string(p.value))
	case object.RevisionAnnotation:
		m.Revision = object.RevisionBy(string(p.value))
	case object.WaveAnnotation:
		m.Wave = p.value
	case object.WeightAnnotation:
		m.Weight = p.value
	case object.TrackerAnnotation:
		m.Tracker = object.TrackerBy(p.value)
	case object.ApprovalAnnotation:
		m.Approval = p.value
	case object.AccountNameAnnotation:
		m.account = p.value
	case object.AccountUIDAnnotation:
		m.accountUID = p.value
	case corev1.MirrorPodAnnotationKey:
		if m.pod != nil {
			m.pod.facts.Mirror = true
		}
	default:
		if _, ok := protectionKeys[string(p.key)]; ok {
			m.Protection |= object.ProtectionBy(string(p.key), string(p.value))
		}
	}
	return nil
}

// owner reads an OwnerReference.
func (m *Metadata) owner(message []byte) error {
	var o Owner
	err := Each(message, func(tag uint64, text []byte, number uint64) error {
		set := number != 0
		switch tag {
		case BytesTag(1):
			o.Kind = text
		case BytesTag(3):
			o.Name = text
		case BytesTag(4):
			o.UID = text
		case BytesTag(5):
			o.APIVersion = text
		case VarintTag(6):
			o.Controller = object.FlagOf(&set)
		case VarintTag(7):
			o.Block = object.FlagOf(&set)
		}
		return nil
	})
	m.owners = append(m.owners, o)
	return err
}

// check returns an error for an object without a name, and for labels with a NUL, which is the
// separator of their canonical form. It sorts the labels. If a key occurs twice, the last one wins,
// as in a map.
func (m *Metadata) check() error {
	if len(m.name) == 0 {
		return errors.New("metadata.name is missing")
	}
	for _, l := range m.labels {
		if bytes.IndexByte(l.key, 0) >= 0 || bytes.IndexByte(l.value, 0) >= 0 {
			return fmt.Errorf("a label of %s has a NUL", strconv.Quote(string(m.name)))
		}
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

// build returns the object that was read, without kind and facts. Name, UID and resourceVersion
// share one allocation.
func (m *Metadata) build(in *Interner) *object.Object {
	in.scratch = append(append(append(in.scratch[:0], m.name...), m.uid...), m.version...)
	own := string(in.scratch)
	n, u := len(m.name), len(m.name)+len(m.uid)
	in.scratch = in.scratch[:0]
	for _, l := range m.labels {
		in.scratch = append(append(in.scratch, l.key...), 0)
		in.scratch = append(append(in.scratch, l.value...), 0)
	}
	labels := object.Labels(in.Bytes(in.scratch))
	return &object.Object{
		Ref:             object.Ref{Namespace: in.Bytes(m.namespace), Name: own[:n], UID: types.UID(own[n:u])},
		ResourceVersion: own[u:],
		Owners:          in.Owners(m.owners),
		Labels:          labels,
		Created:         m.created,
		Generation:      m.generation,
		Lifecycle:       in.Lifecycle(&m.Lifecycle),
	}
}

// podParts are the kept parts of a pod's spec and status.
type podParts struct {
	strings *Interner
	facts   object.PodFacts
	key     []byte
}

// spec reads a PodSpec. The numbers are those of core/v1 generated.proto.
func (p *podParts) spec(message []byte) error {
	p.facts.VolumesKnown = true
	return Each(message, func(tag uint64, text []byte, number uint64) error {
		switch tag {
		case BytesTag(1):
			return p.volume(text)
		case VarintTag(4):
			p.facts.TerminationGracePeriod = p.strings.Number(int64(number))
		case BytesTag(10):
			p.facts.NodeName = p.strings.Bytes(text)
		}
		return nil
	})
}

// volume reads a Volume and its source.
func (p *podParts) volume(message []byte) error {
	var name, claim []byte
	ephemeral := false
	source := func(tag uint64, text []byte, _ uint64) (err error) {
		switch tag {
		case BytesTag(10):
			claim, err = FieldAt(text, BytesTag(1))
		case BytesTag(29):
			ephemeral = true
		}
		return err
	}
	err := Each(message, func(tag uint64, text []byte, _ uint64) error {
		switch tag {
		case BytesTag(1):
			name = text
		case BytesTag(2):
			return Each(text, source)
		}
		return nil
	})
	if len(claim) > 0 {
		p.facts.Claims = append(p.facts.Claims, object.Claim{Name: string(claim)})
	}
	if ephemeral {
		p.facts.Claims = append(p.facts.Claims, object.Claim{Name: string(name), Ephemeral: true})
	}
	return err
}

// status reads a PodStatus: its first field is the phase.
func (p *podParts) status(message []byte) error {
	phase, err := FieldAt(message, BytesTag(1))
	p.facts.Phase = p.strings.Bytes(phase)
	return err
}

// add adds the facts of the pod to its Lifecycle.
func (p *podParts) add(life *object.Lifecycle, name string) *object.Lifecycle {
	key := p.facts.AppendKey(p.key[:0])
	if key != nil {
		p.key = key
	}
	return p.strings.WithFacts(life, key, func() object.Facts { return p.facts.Of(name) })
}
