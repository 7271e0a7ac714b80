package graph

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Change is the difference between two lists of owner references, by UID.
type Change struct {
	Added   []object.OwnerReference
	Removed []object.OwnerReference
	// Changed has pairs of the old and the new reference.
	Changed [][2]object.OwnerReference
}

// Empty reports whether the lists are equal.
func (c Change) Empty() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 }

// Compare returns the difference between two lists of references. Of several old references with
// one UID only the last counts. Of several new ones, the first is compared with it and the others
// count as added.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go referencesDiffs.
// Rule: spec §3.5 B2.
func Compare(old, next []object.OwnerReference) Change {
	var c Change
	if slices.Equal(old, next) && !repeated(next) {
		return c
	}
	met := make([]types.UID, 0, len(next))
	for _, ref := range next {
		before, ok := lastWith(old, ref.UID)
		if !ok || slices.Contains(met, ref.UID) {
			c.Added = append(c.Added, ref)
			continue
		}
		met = append(met, ref.UID)
		if before != ref {
			c.Changed = append(c.Changed, [2]object.OwnerReference{before, ref})
		}
	}
	for i, ref := range old {
		last, _ := lastWith(old[i:], ref.UID)
		if last == ref && !slices.Contains(met, ref.UID) && !hasUID(old[i+1:], ref.UID) {
			c.Removed = append(c.Removed, ref)
		}
	}
	return c
}

func lastWith(refs []object.OwnerReference, uid types.UID) (object.OwnerReference, bool) {
	for _, ref := range slices.Backward(refs) {
		if ref.UID == uid {
			return ref, true
		}
	}
	return object.OwnerReference{}, false
}

func hasUID(refs []object.OwnerReference, uid types.UID) bool {
	return slices.ContainsFunc(refs, func(o object.OwnerReference) bool { return o.UID == uid })
}

func repeated(refs []object.OwnerReference) bool {
	for i, ref := range refs {
		if hasUID(refs[i+1:], ref.UID) {
			return true
		}
	}
	return false
}
