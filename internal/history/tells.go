package history

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Tells reports whether a change of an object matters for deletion, or changes a controller's spec.
// Most changes do not.
func Tells(old, o *object.Object) bool {
	return old.Generation != o.Generation || old.DeletionTimestamp() != o.DeletionTimestamp() ||
		!slices.Equal(old.Owners, o.Owners) || !slices.Equal(old.Finalizers(), o.Finalizers())
}

// Ordinary reports whether objects of a kind are created and deleted all the time and do not count
// as losses.
func Ordinary(r object.Resource) bool {
	return r.Is(object.Lease) || r.Name == "events" && (r.Group == "" || r.Group == "events.k8s.io")
}
