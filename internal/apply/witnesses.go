package apply

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// witnesses returns the namespaces of the saved objects that remain and can be read. They later
// identify the cluster for users without permission to read kube-system.
func witnesses(ctx context.Context, get func(context.Context, object.Ref) (*object.Object, error), snap *snapshot.Snapshot, subjects []subject) []object.Ref {
	names := map[string]bool{}
	for _, s := range subjects {
		names[s.ref.Namespace] = true
	}
	delete(names, "")
	for _, s := range subjects {
		if s.ref.Is(object.Namespace) {
			delete(names, s.ref.Name)
		}
	}
	var all []object.Ref
	for name := range names {
		seen := snap.FindKind(object.Namespace, "", name)
		if seen == nil {
			var err error
			if seen, err = get(ctx, object.Namespace.Ref("", name)); err != nil {
				continue // without permission to read it, it can't be a witness
			}
		}
		all = append(all, seen.Ref)
	}
	slices.SortFunc(all, object.Compare)
	return all
}
