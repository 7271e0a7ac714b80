package history

import (
	"cmp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// grace is how many seconds the namespace controller waits after the deletion of a namespace began.
//
// Upstream: pkg/controller/namespace/namespace_controller.go enqueueNamespace.
const grace = 5

// apart is how many seconds the clocks of API servers may differ.
const apart = 2

// patience returns how many seconds after a revision the namespace controller begins to empty a
// namespace at the earliest; 0 if it may have begun. For a namespace that was created just before
// it returns 0, because the controller may apply its pending work for an earlier one of the same
// name.
func (t *tracer) patience(ns *object.Object, revision uint64) int64 {
	if ns.Created == 0 || ns.Deleted()-ns.Created <= grace+apart {
		return 0
	}
	i, _ := slices.BinarySearchFunc(t.stamps, revision, func(m Moment, r uint64) int { return cmp.Compare(m.Revision, r) })
	if i == len(t.stamps) {
		return 0
	}
	latest := t.stamps[i].Time + 1
	return max(0, ns.Deleted()+grace-latest)
}

// stamped returns the changes that contain their own time, to the second: creations, and the
// beginning of deletions that take time. Inferred changes are skipped.
func stamped(changes []Change) []Moment {
	var list []Moment
	for i := range changes {
		c := &changes[i]
		switch o := c.Object; {
		case c.Unseen, c.After != 0, o.ResourceVersion != strconv.FormatUint(c.Revision, 10):
		case o.BeingDeleted():
			if c.Type == object.Modified && c.Old != nil && !c.Old.BeingDeleted() {
				list = append(list, Moment{c.Revision, o.Deleted()})
			}
		case c.Type == object.Added && o.Created > 0:
			list = append(list, Moment{c.Revision, o.Created})
		}
	}
	return list
}

// awaitsPods reports whether the deletion of a namespace must wait for a pod that existed when it
// began: one that is being deleted, will be, or may not have been deleted yet. The namespace
// controller does not wait for pods that it is not allowed to delete.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent.
func (t *tracer) awaitsPods(namespace string, since, revision uint64) bool {
	if !release.Of(release.Minor(t.past.Minor)).Follow(release.OrderedNamespaces) {
		return false
	}
	for _, pod := range t.world.pods[namespace] {
		if t.created[pod.UID] <= since && (pod.BeingDeleted() || t.leaving[pod.UID] || t.soon(since, revision)) {
			return true
		}
	}
	return false
}

// leavingOf returns the pods whose deletion begins at some time.
func leavingOf(changes []Change) map[types.UID]bool {
	leaving := map[types.UID]bool{}
	for i := range changes {
		if o := changes[i].Object; !changes[i].Unseen && o.Is(object.Pod) && (o.BeingDeleted() || changes[i].Type == object.Deleted) {
			leaving[o.UID] = true
		}
	}
	return leaving
}
