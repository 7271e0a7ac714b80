package manifest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Interner keeps one copy of each string that repeats over many objects: kinds, namespaces,
// finalizers, label sets, owners. It is not safe for concurrent use.
type Interner struct {
	// Most limits the number of remembered values of each sort; 0 means no limit. Evicted values
	// are only not shared any more.
	Most int

	strings    map[string]string
	numbers    map[int64]*int64
	lifecycles map[string]*object.Lifecycle
	// recent are owner references, by a hash of the first UID.
	recent  [][]object.OwnerReference
	scratch []byte
}

// NewInterner returns an empty interner.
func NewInterner() *Interner {
	return &Interner{
		strings:    map[string]string{},
		numbers:    map[int64]*int64{},
		lifecycles: map[string]*object.Lifecycle{},
	}
}

// Bytes returns the interned string of b.
func (in *Interner) Bytes(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	s, ok := in.strings[string(b)]
	if !ok {
		s = string(b)
		remember(in, in.strings, s, s)
	}
	return s
}

// remember stores a value for sharing.
func remember[K comparable, V any](in *Interner, values map[K]V, key K, v V) {
	if in.Most > 0 && len(values) >= in.Most {
		clear(values)
	}
	values[key] = v
}

// Number returns a shared pointer to n.
func (in *Interner) Number(n int64) *int64 {
	p, ok := in.numbers[n]
	if !ok {
		p = new(n)
		remember(in, in.numbers, n, p)
	}
	return p
}

// String returns the interned string of s.
func (in *Interner) String(s string) string {
	if s == "" {
		return ""
	}
	if have, ok := in.strings[s]; ok {
		return have
	}
	remember(in, in.strings, s, s)
	return s
}

// recentOwners is the number of remembered lists of owner references. Few are enough because
// siblings are adjacent, and owners that occur once are evicted soon.
const recentOwners = 1 << 10

// Owner is an unresolved owner reference in the input.
type Owner struct {
	APIVersion, Kind, Name, UID []byte
	Controller, Block           object.Flag
}

// Owners returns owner references, the same slice for adjacent siblings. Name and UID of each share
// one allocation.
func (in *Interner) Owners(read []Owner) []object.OwnerReference {
	if len(read) == 0 {
		return nil
	}
	if in.recent == nil {
		in.recent = make([][]object.OwnerReference, recentOwners)
	}
	hash := uint32(2166136261)
	for _, c := range read[0].UID {
		hash = (hash ^ uint32(c)) * 16777619
	}
	slot := &in.recent[(hash^hash>>16)%recentOwners]
	if slices.EqualFunc(*slot, read, isOwner) {
		return *slot
	}
	refs := make([]object.OwnerReference, len(read))
	for i, o := range read {
		in.scratch = append(append(in.scratch[:0], o.Name...), o.UID...)
		own := string(in.scratch)
		refs[i] = object.OwnerReference{
			APIVersion: in.Bytes(o.APIVersion), Kind: in.Bytes(o.Kind),
			Name: own[:len(o.Name)], UID: types.UID(own[len(o.Name):]),
			Controller: o.Controller, BlockOwnerDeletion: o.Block,
		}
	}
	*slot = refs
	return refs
}

func isOwner(r object.OwnerReference, o Owner) bool {
	return r.Controller == o.Controller && r.BlockOwnerDeletion == o.Block &&
		string(r.UID) == string(o.UID) && r.Name == string(o.Name) &&
		r.Kind == string(o.Kind) && r.APIVersion == string(o.APIVersion)
}

// Lifecycle is a Lifecycle in the input, without facts.
type Lifecycle struct {
	Finalizers     [][]byte
	Deleted, Grace int64
	// HasGrace is true if Grace was present.
	HasGrace   bool
	Protection object.Protection
	Revision   uint32
	Tracker    []byte
	// Wave and Weight are the values of object.WaveAnnotation and object.WeightAnnotation.
	Wave, Weight []byte
	// Approval is the value of object.ApprovalAnnotation.
	Approval []byte
}

// Lifecycle returns the Lifecycle that was read, shared between equal ones without a deletion; nil
// if it is empty.
func (in *Interner) Lifecycle(read *Lifecycle) *object.Lifecycle {
	deletion := read.Deleted != 0 || read.HasGrace
	wave := int32(0)
	if len(read.Wave)+len(read.Weight) > 0 {
		wave = object.WaveBy(string(read.Wave), string(read.Weight))
	}
	if len(read.Finalizers) == 0 && read.Protection == 0 && read.Revision == 0 && wave == 0 && len(read.Tracker) == 0 && !deletion {
		return nil
	}
	in.scratch = appendLifecycle(in.scratch[:0], read.Protection, read.Revision, wave, read.Tracker, read.Finalizers)
	shared, ok := in.lifecycles[string(in.scratch)]
	if !ok {
		shared = &object.Lifecycle{Protection: read.Protection, Revision: read.Revision, Wave: wave, Tracker: in.Bytes(read.Tracker)}
		for _, f := range read.Finalizers {
			shared.Finalizers = append(shared.Finalizers, in.Bytes(f))
		}
		remember(in, in.lifecycles, string(in.scratch), shared)
	}
	if !deletion {
		return shared
	}
	own := *shared
	own.Protection |= object.ApprovalBy(string(read.Approval), read.Deleted)
	if own.DeletionTimestamp = read.Deleted; read.HasGrace {
		own.GracePeriod = in.Number(read.Grace)
	}
	return &own
}

// WithFacts returns life with facts added. It doesn't change life. Objects without a deletion share
// the result if their finalizers and their keys are equal. A nil key means that the facts are not
// shared.
func (in *Interner) WithFacts(life *object.Lifecycle, key []byte, facts func() object.Facts) *object.Lifecycle {
	of := life
	if of == nil {
		of = &none
	}
	if key == nil || of.DeletionTimestamp != 0 || of.GracePeriod != nil {
		if f := facts(); f != nil {
			return withFacts(*of, f)
		}
		return life
	}
	// No protection has the value 0xff: no key with facts equals one without.
	in.scratch = append(in.scratch[:0], 0xff)
	in.scratch = append(appendLifecycle(in.scratch, of.Protection, of.Revision, of.Wave, of.Tracker, of.Finalizers), key...)
	shared, ok := in.lifecycles[string(in.scratch)]
	if !ok {
		shared = withFacts(*of, facts())
		remember(in, in.lifecycles, string(in.scratch), shared)
	}
	return shared
}

var none object.Lifecycle

func withFacts(life object.Lifecycle, facts object.Facts) *object.Lifecycle {
	life.Facts = facts
	return &life
}

// appendLifecycle appends a key that is equal for objects with equal Lifecycles without a deletion.
func appendLifecycle[T ~string | ~[]byte](key []byte, p object.Protection, revision uint32, wave int32, tracker T, finalizers []T) []byte {
	key = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(key, uint32(p)), revision)
	key = binary.AppendVarint(key, int64(wave))
	key = append(binary.AppendUvarint(key, uint64(len(tracker))), tracker...)
	key = binary.AppendUvarint(key, uint64(len(finalizers)))
	for _, f := range finalizers {
		key = append(binary.AppendUvarint(key, uint64(len(f))), f...)
	}
	return key
}

// build returns the object that was read, without kind and facts.
func (rd *reading) build(it *item) *object.Object {
	m := &rd.metadataRead
	m.reset()
	m.name, m.uid, m.version, m.namespace = it.bytes(it.name), it.bytes(it.uid), it.bytes(it.version), it.bytes(it.namespace)
	m.created, m.generation, m.Protection, m.Revision = it.created, it.generation, it.protection, it.revision
	m.Tracker, m.Approval = object.TrackerBy(it.bytes(it.tracker)), it.bytes(it.approval)
	m.Wave, m.Weight = it.bytes(it.wave), it.bytes(it.weight)
	m.Deleted, m.Grace, m.HasGrace = it.deleted, it.grace, it.seen&hasGraceValue != 0
	for _, l := range it.labels {
		m.labels = append(m.labels, pair{it.bytes(l.key), it.bytes(l.value)})
	}
	for _, o := range it.owners {
		m.owners = append(m.owners, Owner{
			APIVersion: it.bytes(o.apiVersion), Kind: it.bytes(o.kind), Name: it.bytes(o.name), UID: it.bytes(o.uid),
			Controller: o.controller, Block: o.block,
		})
	}
	for _, f := range it.finalizers {
		m.Finalizers = append(m.Finalizers, it.bytes(f))
	}
	o := m.build(rd.in)
	o.Namespace = cmp.Or(o.Namespace, rd.o.Namespace)
	return o
}

// sortLabels sorts the labels by key and returns a duplicate key, if any.
func (it *item) sortLabels() (twice []byte) {
	compare := func(a, b labelSpans) int { return bytes.Compare(it.bytes(a.key), it.bytes(b.key)) }
	if !slices.IsSortedFunc(it.labels, compare) {
		slices.SortFunc(it.labels, compare)
	}
	for i := 1; i < len(it.labels); i++ {
		if compare(it.labels[i-1], it.labels[i]) == 0 {
			return it.bytes(it.labels[i].key)
		}
	}
	return nil
}

// setFacts adds the facts that were read to o.
func (in *Interner) setFacts(o *object.Object, k *factKind, it *item) {
	if k.facts == nil {
		return
	}
	it.facts.pod.Mirror, it.facts.specShown = it.seen&hasMirror != 0, it.seen&hasSpec != 0
	var key []byte
	if k.alike != nil {
		key = k.alike(&it.facts)
	}
	o.Lifecycle = in.WithFacts(o.Lifecycle, key, func() object.Facts { return k.facts(&it.facts, o) })
}
