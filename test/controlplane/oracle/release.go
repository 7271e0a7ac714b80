package oracle

import (
	"context"
	"net/http"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// release takes off, in both worlds, every finalizer that holds what is being deleted, as
// long as there are any. What goes then was to be in the account, too.
func (t *trial) release(ctx context.Context) error {
	for range 6 {
		some := false
		for _, at := range []place{t.ours, t.twin} {
			for k, o := range t.worldAt(at) {
				left := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == foreign || f == operated })
				if o.GetDeletionTimestamp() == nil || len(left) == len(o.GetFinalizers()) {
					continue
				}
				some = true
				_, err := t.send(ctx, http.MethodPatch, kindNamed(k.kind).path(k.namespace, k.name), fields{"metadata": fields{"finalizers": left}})
				if err != nil && cluster.Code(err) == 0 {
					return err
				}
			}
		}
		if !some {
			return nil
		}
		t.freed = true
		if err := t.look(ctx, 2*dwell); err != nil {
			return err
		}
	}
	return nil
}
