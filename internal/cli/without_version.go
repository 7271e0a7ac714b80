package cli

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// withoutVersion returns the snapshot as if a version of a resource, such as
// databases.example.com/v1beta1, were not served. An empty resource returns the snapshot itself.
func withoutVersion(snap *snapshot.Snapshot, resource string) (*snapshot.Snapshot, error) {
	if resource == "" {
		return snap, nil
	}
	name, _, _ := strings.Cut(resource, "/")
	var served []string
	for _, r := range snap.Resources.All() {
		known := r.GroupResource().String() + "/" + r.Version
		switch {
		case known == resource:
			return snap.WithoutVersion(r)
		case r.GroupResource().String() == name:
			served = append(served, known)
		}
	}
	if len(served) > 0 {
		return nil, fmt.Errorf("%s is not served; these are: %s", resource, strings.Join(served, ", "))
	}
	var all []string
	for _, r := range snap.Resources.All() {
		all = append(all, r.GroupResource().String())
	}
	return nil, fmt.Errorf("%q is no resource with a version, as in databases.example.com/v1beta1%s", resource, usage.DidYouMean(usage.Nearest(name, all)))
}
