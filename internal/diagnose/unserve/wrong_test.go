package unserve_test

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// wrongs knows who was wronged: whoever the collector deleted or took a reference from
// although that owner was there, and whoever it wrote to because somebody else was
// wronged.
type wrongs struct {
	*cluster
	hurt map[types.UID]bool
	// lost are those that it deleted.
	lost map[types.UID]object.Ref
}

// watch tells of each write of the collector, and whether it was wrong. What goes anyway
// is never wronged.
func watch(c *cluster, goes map[types.UID]bool, tell func(o *object.Object, removed, wrong bool)) {
	w := wrongs{c, map[types.UID]bool{}, map[types.UID]object.Ref{}}
	c.wrote = func(o *object.Object, removed bool) func() {
		keepers := slices.DeleteFunc(w.keepers(o), func(uid types.UID) bool { return goes[uid] })
		return func() {
			wrong := !goes[o.UID] && w.wrong(o, removed, keepers)
			if wrong {
				w.hurt[o.UID] = true
			}
			if wrong && removed {
				w.lost[o.UID] = o.Ref
			}
			tell(o, removed, wrong)
		}
	}
}

// keepers are the owners that an object names through the version, and that are there.
func (w wrongs) keepers(o *object.Object) []types.UID {
	var keepers []types.UID
	for _, ref := range o.Owners {
		if ref.APIVersion == w.gone && strings.EqualFold(ref.Kind, kind) && w.solid(context.Background(), ref, o.Namespace) {
			keepers = append(keepers, ref.UID)
		}
	}
	return keepers
}

// namesLost reports whether a reference names an object that was wrongly deleted, and not
// merely has its uid. Whoever deletes such an object once more, to have its dependents
// kept, takes it upon himself.
func (w wrongs) namesLost(ref object.OwnerReference, namespace string) bool {
	lost, ok := w.lost[ref.UID]
	if live := w.get(context.Background(), lost); live != nil && live.HasFinalizer(object.Orphan) {
		return false
	}
	return ok && lost.Name == ref.Name && strings.EqualFold(lost.Kind, ref.Kind) && (lost.Namespace == "" || lost.Namespace == namespace)
}

func (w wrongs) wrong(o *object.Object, removed bool, keepers []types.UID) bool {
	if o.BeingDeleted() {
		return false
	}
	if w.hurt[o.UID] {
		return true
	}
	for _, ref := range o.Owners {
		if w.namesLost(ref, o.Namespace) {
			keepers = append(keepers, ref.UID)
		}
	}
	if removed {
		return len(keepers) > 0
	}
	live := w.get(context.Background(), o.Ref)
	return live != nil && slices.ContainsFunc(keepers, func(uid types.UID) bool { return !live.RefersTo(uid) })
}
