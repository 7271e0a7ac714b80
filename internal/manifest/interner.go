package manifest

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Interner keeps one copy of each string that repeats over many objects: kinds,
// namespaces, finalizers, label sets, owners. It is not safe for concurrent use.
type Interner struct {
	// Most is how many strings are remembered; 0 for all. What is forgotten is only not
	// shared any more.
	Most int

	strings map[string]string
	// lists are lists of finalizers, by the names with NUL behind each.
	lists   map[string][]string
	numbers map[int64]*int64
	rares   map[rareKey]*object.Rare
	// recent are owner references, by a hash of the first UID.
	recent  [][]object.OwnerReference
	scratch []byte
}

// NewInterner returns an empty interner.
func NewInterner() *Interner {
	return &Interner{
		strings: map[string]string{},
		lists:   map[string][]string{},
		numbers: map[int64]*int64{},
		rares:   map[rareKey]*object.Rare{},
	}
}

// Bytes returns the one copy of b as a string.
func (in *Interner) Bytes(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := in.strings[string(b)]; ok {
		return s
	}
	if in.Most > 0 && len(in.strings) >= in.Most {
		clear(in.strings)
	}
	s := string(b)
	in.strings[s] = s
	return s
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
