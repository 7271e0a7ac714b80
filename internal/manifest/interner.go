package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Interner keeps one copy of each string that repeats over many objects: kinds,
// namespaces, finalizers, label sets, owners. It is not safe for concurrent use.
type Interner struct {
	strings map[string]string
	// lists are lists of finalizers, by the names with NUL behind each.
	lists   map[string][]string
	numbers map[int64]*int64
	rares   map[rareKey]*object.Rare
	// recent are owner references, by a hash of the first UID.
	recent [recentOwners][]object.OwnerReference
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
