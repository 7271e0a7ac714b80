package apply

import (
	"fmt"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ownedBy is an object as the server sent it, with other owners.
func ownedBy(raw []byte, owners []object.OwnerReference) ([]byte, error) {
	return jsonpatch.MergePatch(raw, object.Patch{Type: object.Merge, Owners: &owners}.Body())
}

// unforeseen says what of an object is neither as it was when the plan was made nor as
// our own deletes make it: the collector takes references to owners that go off their
// dependents, deletes them, and takes its own finalizers off what it has dealt with.
// Empty when there is no such thing.
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

// same reports whether a reference is what another one was, apart from its having been
// told not to block.
func same(was, is object.OwnerReference) bool {
	if is.BlockOwnerDeletion == object.False {
		was.BlockOwnerDeletion = object.False
	}
	return was == is
}
