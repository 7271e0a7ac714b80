package object

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Flag is an optional boolean of an owner reference. Unset and false mean the same to the
// collector, but two references that differ in it are not equal, which matters when the API server
// removes duplicates.
type Flag uint8

// The values of a Flag.
const (
	Unset Flag = iota
	False
	True
)

// FlagOf converts an optional boolean to a Flag.
func FlagOf(b *bool) Flag {
	switch {
	case b == nil:
		return Unset
	case *b:
		return True
	default:
		return False
	}
}

// Bool converts the flag to Kubernetes' form; nil if unset.
func (f Flag) Bool() *bool {
	switch f {
	case False:
		return new(false)
	case True:
		return new(true)
	default:
		return nil
	}
}

// OwnerReference is one entry of metadata.ownerReferences. It is comparable:
// equality is the semantic deep equality of the API server.
type OwnerReference struct {
	APIVersion         string
	Kind               string
	Name               string
	UID                types.UID
	Controller         Flag
	BlockOwnerDeletion Flag
}

// Blocks reports whether the reference blocks a foreground deletion of its owner.
func (o OwnerReference) Blocks() bool { return o.BlockOwnerDeletion == True }

// SameOwners reports whether two lists share memory: readers share the list of adjacent siblings.
// Lists that don't may still be equal.
func SameOwners(a, b []OwnerReference) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// In returns the identity that the reference names for a dependent in the namespace. References
// have no namespace: an owner is in the namespace of its dependent, or cluster-scoped.
func (o OwnerReference) In(namespace string) Ref {
	return Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: namespace, Name: o.Name, UID: o.UID}
}

// Names reports whether the reference has exactly the coordinates and the UID of r.
func (o OwnerReference) Names(r Ref) bool {
	return o.UID == r.UID && o.Name == r.Name && o.Kind == r.Kind && o.APIVersion == r.APIVersion
}

// WithoutOwners returns the owners without the given UIDs. It doesn't change the input, and returns
// it if nothing matches.
func WithoutOwners(owners []OwnerReference, uids []types.UID) []OwnerReference {
	if !slices.ContainsFunc(owners, func(o OwnerReference) bool { return slices.Contains(uids, o.UID) }) {
		return owners
	}
	kept := make([]OwnerReference, 0, len(owners))
	for _, o := range owners {
		if !slices.Contains(uids, o.UID) {
			kept = append(kept, o)
		}
	}
	return kept
}
