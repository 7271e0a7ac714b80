package engine_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// lived draws a world, lets a user delete and meddle, and runs it to rest each
// time; watch sees the rig before anything happens.
func lived(t *rapid.T, allowed scenario.Variety, watch func(*rig)) *rig {
	w := scenario.DrawWorld(t, allowed)
	r := newRig(t, w)
	watch(r)
	if rapid.Bool().Draw(t, "settled before") {
		r.sync().drain()
	} else {
		r.sync()
	}
	acts := scenario.DrawDeletes(t, w, scenario.Policies)
	r.act(acts...).drain()
	for range rapid.IntRange(0, 3).Draw(t, "meddling") {
		r.act(scenario.DrawMeddling(t, w, acts)).drain()
	}
	return r
}

// Safety: the collector never deletes an object that has an existing owner at the
// moment of the request. There is no exception while one attempt runs at a time:
// not for wrong references, repeated uids or what is remembered as absent.
func TestPropertySafety(t *testing.T) {
	deletes := 0
	rapid.Check(t, func(t *rapid.T) {
		lived(t, scenario.Wild, func(r *rig) {
			r.judge = func(o *object.Object) string {
				deletes++
				return r.innocent(o)
			}
		})
	})
	if deletes == 0 {
		t.Error("nothing was ever deleted: the property says nothing")
	}
}

// innocent says why the collector may not delete an object; empty when it may.
func (r *rig) innocent(o *object.Object) string {
	if len(o.Owners) == 0 {
		return "it has no owner references"
	}
	for _, ref := range o.Owners {
		switch r.stateOf(ref, o.Namespace) {
		case solid:
			return ref.In(o.Namespace).String() + " is solid"
		case unresolved:
			return ref.In(o.Namespace).String() + " cannot be resolved"
		case dangling, waiting: // keeps nothing
		}
	}
	return ""
}

// Liveness: at rest, an object whose owners are all absent is gone, being
// deleted, or waits for another attempt. Three things are left out, as upstream
// leaves them:
//
//   - of objects with one UID the graph knows one: when that one goes its node
//     goes, and nobody asks who refers to the other;
//   - a collector never attempts what it does not watch, and asks for an owner of
//     such a kind under one identity only, which may be one that nobody can ask
//     for (Q16);
//   - a cluster-scoped object with a reference to a namespaced kind is given up
//     without a retry (Q5). When the reference is removed later, that alone is no
//     reason to look at the object again.
func TestPropertyLiveness(t *testing.T) {
	garbage := 0
	scenario.CheckUntil(t, func() bool { return garbage > 0 }, func(t *rapid.T) {
		r := lived(t, scenario.Wild&^(scenario.RepeatedUIDs|scenario.Unwatched), func(*rig) {})
		garbage += r.lookedAfter()
	})
}

// lookedAfter checks that of what is left every object without an owner is being deleted
// or will be looked at again, and returns how many have none.
func (r *rig) lookedAfter() (garbage int) {
	later := r.collector.Deferred(engine.DeleteWork)
	for _, o := range r.listed() {
		if !r.garbageWithout(o, "") || r.givenUp(o) {
			continue
		}
		garbage++
		if !o.BeingDeleted() && !slices.Contains(later, o.Ref) {
			r.fatalf("%s has no owner left and nobody looks at it", o.Ref)
		}
	}
	return garbage
}

// Foreground: the collector lets an owner go only when no watched object blocks
// it. Objects with one UID are one node, so one of them can hide the other.
func TestPropertyForeground(t *testing.T) {
	released := 0
	rapid.Check(t, func(t *rapid.T) {
		lived(t, scenario.Wild&^scenario.RepeatedUIDs, func(r *rig) {
			r.onPatch = func(o *object.Object, p object.Patch) {
				if p.Finalizers == nil || !o.HasFinalizer(object.Foreground) || slices.Contains(*p.Finalizers, object.Foreground) {
					return
				}
				released++
				for _, d := range r.listed() {
					if slices.ContainsFunc(d.Owners, func(ref object.OwnerReference) bool { return ref.UID == o.UID && ref.Blocks() }) {
						r.fatalf("%s is released and %s still blocks it", o.Ref, d.Ref)
					}
				}
			}
		})
	})
	if released == 0 {
		t.Error("no foreground deletion ever ended: the property says nothing")
	}
}

// Orphan: when the collector has settled before a delete with the Orphan policy,
// every dependent outlives it, without the reference. A dependent is whoever has
// the UID among its references, rightly or wrongly, and is not being deleted
// already. Worlds are passed over in which nothing but such a reference keeps a
// dependent alive, because it cannot be resolved: without it the dependent is the
// garbage that its other references make it, and takes its own dependents with it.
func TestPropertyOrphan(t *testing.T) {
	orphaned := 0
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild&^(scenario.RepeatedUIDs|scenario.Unwatched))
		r := newRig(t, w).sync().drain()
		act := scenario.DrawDeletes(t, w, []metav1.DeletionPropagation{metav1.DeletePropagationOrphan})[0]
		owner := r.get(act.Ref)
		if owner == nil || owner.BeingDeleted() {
			return
		}
		var dependents []object.Ref
		for _, o := range r.listed() {
			if !o.RefersTo(owner.UID) || o.UID == owner.UID {
				continue
			}
			if r.goesWithout(o, owner.UID) {
				return
			}
			if o.BeingDeleted() {
				continue
			}
			dependents = append(dependents, o.Ref)
		}
		r.act(act).drain()
		for _, ref := range dependents {
			o := r.get(ref)
			if o == nil {
				r.fatalf("%s was lost with its owner", ref)
			}
			if o.RefersTo(owner.UID) {
				r.fatalf("%s still refers to its owner", ref)
			}
			orphaned++
		}
	})
	if orphaned == 0 {
		t.Error("nobody was ever released: the property says nothing")
	}
}

// garbageWithout reports whether an object has references apart from those to a
// UID, and all of them name absent owners.
func (r *rig) garbageWithout(o *object.Object, uid types.UID) bool {
	left := object.WithoutOwners(o.Owners, []types.UID{uid})
	for _, ref := range left {
		if r.stateOf(ref, o.Namespace) != dangling {
			return false
		}
	}
	return len(left) > 0
}

// goesWithout is garbageWithout where an owner that waits for its dependents takes the
// object along as well.
func (r *rig) goesWithout(o *object.Object, uid types.UID) bool {
	left := object.WithoutOwners(o.Owners, []types.UID{uid})
	stays := func(ref object.OwnerReference) bool {
		state := r.stateOf(ref, o.Namespace)
		return state != dangling && state != waiting
	}
	return len(left) > 0 && !slices.ContainsFunc(left, stays)
}

// givenUp reports whether the object began with a reference for which the collector
// gives up: it is cluster-scoped and names a namespaced kind.
func (r *rig) givenUp(o *object.Object) bool {
	for _, first := range r.world.Objects {
		if first.Ref != o.Ref || o.Namespace != "" {
			continue
		}
		for _, ref := range first.Owners {
			if resource, err := r.server.Resource(ref.APIVersion, ref.Kind); err == nil && resource.Namespaced {
				return true
			}
		}
	}
	return false
}
