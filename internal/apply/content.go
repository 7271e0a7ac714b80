package apply

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// content stands for all of an object but what the cluster itself writes while it
// deletes: two versions with the same one are what the same person wanted.
type content [sha256.Size]byte

// written are the fields of metadata that do not belong to the content: who wrote last,
// and what the collector and a DELETE change, which is compared field by field.
var written = []string{
	"resourceVersion", "managedFields", "generation", "ownerReferences", "finalizers", "deletionTimestamp", "deletionGracePeriodSeconds",
}

// contentOf is the content of an object as the server sent it. Its status is not what
// anybody asked for.
func contentOf(raw []byte) (content, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var o map[string]any
	if err := d.Decode(&o); err != nil {
		return content{}, err
	}
	delete(o, "status")
	metadata, ok := o["metadata"].(map[string]any)
	if !ok {
		return content{}, errors.New("it has no metadata")
	}
	for _, field := range written {
		delete(metadata, field)
	}
	text, err := json.Marshal(o)
	return sha256.Sum256(text), err
}

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
