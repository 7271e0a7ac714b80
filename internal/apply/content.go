package apply

import (
	"fmt"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ownedBy returns the bytes of an object with other owners.
func ownedBy(raw []byte, owners []object.OwnerReference) ([]byte, error) {
	return jsonpatch.MergePatch(raw, object.Patch{Type: object.Merge, Owners: &owners}.Body())
}

// unforeseen describes a change of an object since the plan that our own deletes don't explain;
// empty if there is none. Our deletes let the collector remove references to leaving owners, delete
// dependents and remove its own finalizers.
func unforeseen(seen, now *object.Object, leaving map[types.UID]bool) string {
	for _, ref := range now.Owners {
		if !slices.ContainsFunc(seen.Owners, func(s object.OwnerReference) bool { return same(s, ref) }) {
			return fmt.Sprintf("it is owned by %s %s now", ref.Kind, ref.Name)
		}
	}
	for _, ref := range seen.Owners {
		still := func(n object.OwnerReference) bool { return n.UID == ref.UID }
		if !leaving[ref.UID] && !slices.ContainsFunc(now.Owners, still) {
			return fmt.Sprintf("it is not owned by %s %s any more", ref.Kind, ref.Name)
		}
	}
	for _, f := range now.Finalizers() {
		// Under a foreground deletion the collector deletes dependents in the foreground.
		if !seen.HasFinalizer(f) && (f != object.Foreground || !now.BeingDeleted()) {
			return "it has finalizer " + f + " now"
		}
	}
	for _, f := range seen.Finalizers() {
		if !now.HasFinalizer(f) && f != object.Foreground && f != object.Orphan && !now.BeingDeleted() {
			return "it does not have finalizer " + f + " any more"
		}
	}
	return ""
}

// same reports whether a reference is unchanged, except that blockOwnerDeletion may have become
// false.
func same(was, is object.OwnerReference) bool {
	if is.BlockOwnerDeletion == object.False {
		was.BlockOwnerDeletion = object.False
	}
	return was == is
}
