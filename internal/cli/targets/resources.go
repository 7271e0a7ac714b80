package targets

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Types are the types for lookups by name. Holds reports whether objects of a type exist.
type Types struct {
	*object.Resources
	Holds func(object.Resource) bool
}

// Find resolves a type as kubectl does. Among several it prefers the first with objects.
func (s Types) Find(arg string) (object.Resource, bool) { return s.Named(arg, s.Holds) }

// FindResource returns the type of an argument in a snapshot.
func FindResource(snap *snapshot.Snapshot, arg string) (object.Resource, error) {
	known := Types{snap.Resources, func(r object.Resource) bool { return len(objectsOf(snap, r)) > 0 }}
	if r, ok := known.Find(arg); ok {
		return r, nil
	}
	return object.Resource{}, fmt.Errorf("%s has no resource type %q%s", source.What(snap), arg, usage.DidYouMean(usage.Nearest(strings.ToLower(arg), snap.Resources.Names())))
}
