package history

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Tells reports whether a change of an object says something about deletion, or of a new order to
// a controller. Most changes say nothing but how an object looked before.
func Tells(old, o *object.Object) bool {
	return old.Generation != o.Generation || old.DeletionTimestamp() != o.DeletionTimestamp() ||
		!slices.Equal(old.Owners, o.Owners) || !slices.Equal(old.Finalizers(), o.Finalizers())
}

// Ordinary reports whether objects of a kind come and go all the time, and are nobody's loss.
func Ordinary(r object.Resource) bool {
	return r.Is(object.Lease) || r.Name == "events" && (r.Group == "" || r.Group == "events.k8s.io")
}
