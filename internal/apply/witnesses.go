package apply

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// witnesses are the namespaces of what is kept, as far as they stay and may be read. Who
// may not read kube-system can tell by them later whether a cluster is the same.
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
				continue // it may not be read: then it is no witness
			}
		}
		all = append(all, seen.Ref)
	}
	slices.SortFunc(all, object.Compare)
	return all
}
