package manifest

import (
	"encoding/binary"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Interner keeps one copy of each string that repeats over many objects: kinds,
// namespaces, finalizers, label sets, owners. It is not safe for concurrent use.
type Interner struct {
	// Most is how many of each are remembered; 0 for all. What is forgotten is only not
	// shared any more.
	Most int

	strings map[string]string
	// near are strings that were asked for lately, by their length and ends: most are asked for
	// by object after object.
	near       [nearStrings]string
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

// Bytes returns the one copy of b as a string.
func (in *Interner) Bytes(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	near := &in.near[(len(b)*7+int(b[0])*3+int(b[len(b)-1]))%nearStrings]
	if *near == string(b) {
		return *near
	}
	s, ok := in.strings[string(b)]
	if !ok {
		s = string(b)
		remember(in, in.strings, s, s)
	}
	*near = s
	return s
}

const nearStrings = 64

// remember keeps a value for others.
func remember[K comparable, V any](in *Interner, values map[K]V, key K, v V) {
	if in.Most > 0 && len(values) >= in.Most {
		clear(values)
	}
	values[key] = v
}

// Number returns the one copy of n.
func (in *Interner) Number(n int64) *int64 {
	p, ok := in.numbers[n]
	if !ok {
		p = new(n)
		remember(in, in.numbers, n, p)
	}
	return p
}

// String returns the one copy of s.
func (in *Interner) String(s string) string {
	if s == "" {
		return ""
	}
	if have, ok := in.strings[s]; ok {
		return have
	}
	in.strings[s] = s
	return s
}

// recentOwners is the number of lists of owner references that are remembered.
// Siblings are near one another, so few are enough, and owners that occur once cost
// nothing for long.
const recentOwners = 1 << 10

// Owner is an owner reference as it was read.
type Owner struct {
	APIVersion, Kind, Name, UID []byte
	Controller, Block           object.Flag
}

// Owners returns owner references, the same slice for siblings that are near one
// another. Name and UID of one share an allocation.
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

// Lifecycle is that of an object as it was read, without facts.
type Lifecycle struct {
	Finalizers     [][]byte
	Deleted, Grace int64
	// HasGrace tells that there was a Grace.
	HasGrace   bool
	Protection object.Protection
	Revision   uint32
}

// Lifecycle returns what was read, the same for objects without a deletion that are alike;
// nil for none of it.
func (in *Interner) Lifecycle(read *Lifecycle) *object.Lifecycle {
	deletion := read.Deleted != 0 || read.HasGrace
	if len(read.Finalizers) == 0 && read.Protection == 0 && read.Revision == 0 && !deletion {
		return nil
	}
	in.scratch = appendLifecycle(in.scratch[:0], read.Protection, read.Revision, read.Finalizers)
	shared, ok := in.lifecycles[string(in.scratch)]
	if !ok {
		shared = &object.Lifecycle{Protection: read.Protection, Revision: read.Revision}
		for _, f := range read.Finalizers {
			shared.Finalizers = append(shared.Finalizers, in.Bytes(f))
		}
		remember(in, in.lifecycles, string(in.scratch), shared)
	}
	if !deletion {
		return shared
	}
	own := *shared
	if own.DeletionTimestamp = read.Deleted; read.HasGrace {
		own.GracePeriod = in.Number(read.Grace)
	}
	return &own
}

// WithFacts adds facts to what an Interner returned, which stays as it is. Objects without a
// deletion whose facts have one key share all of it; nil is the key of facts that an object
// has alone.
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
	// No protection begins like this.
	in.scratch = append(in.scratch[:0], 0xff)
	in.scratch = append(appendLifecycle(in.scratch, of.Protection, of.Revision, of.Finalizers), key...)
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

// appendLifecycle appends what two objects without a deletion have in common that share
// theirs.
func appendLifecycle[T ~string | ~[]byte](key []byte, p object.Protection, revision uint32, finalizers []T) []byte {
	key = binary.BigEndian.AppendUint32(append(key, byte(p)), revision)
	key = binary.AppendUvarint(key, uint64(len(finalizers)))
	for _, f := range finalizers {
		key = append(binary.AppendUvarint(key, uint64(len(f))), f...)
	}
	return key
}
