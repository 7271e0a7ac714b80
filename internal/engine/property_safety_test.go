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

// lived draws a world, lets a user delete and modify objects, and runs it to rest each time. watch
// gets the rig before the start.
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

// Safety: the collector never deletes an object that has an existing owner at the moment of the
// request. With one attempt at a time there is no exception: not for wrong references, repeated
// UIDs or remembered absences.
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

// innocent returns why the collector may not delete an object, "" if it may.
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
		case dangling, waiting: // doesn't keep the object
		}
	}
	return ""
}

// Liveness: at rest, an object with only absent owners is gone, being deleted, or has a deferred
// attempt. Three cases are excluded, as in upstream:
//
//   - of objects with one UID the graph knows one: when that one is deleted, the node is removed,
//     and the dependents of the other are not attempted;
//   - a collector never attempts objects that it doesn't watch, and looks up an owner of such a
//     kind under one identity only, which may be one that no request can use (Q16);
//   - the attempt of a cluster-scoped object with a reference to a namespaced kind is dropped
//     without a retry (Q5). Removing the reference later doesn't queue the object again.
func TestPropertyLiveness(t *testing.T) {
	garbage := 0
	scenario.CheckUntil(t, func() bool { return garbage > 0 }, func(t *rapid.T) {
		r := lived(t, scenario.Wild&^(scenario.RepeatedUIDs|scenario.Unwatched), func(*rig) {})
		garbage += r.lookedAfter()
	})
}

// lookedAfter checks that every remaining object without an owner is being deleted or has an
// attempt, and returns their number.
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

// Foreground: the collector releases an owner only when no watched object blocks it. Objects with
// one UID are one node, so one of them can hide the other.
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

// Orphan: if the collector has settled before a delete with the Orphan policy, every dependent
// survives without the reference. A dependent is each object with the UID in a reference, right or
// wrong, that is not being deleted already. Worlds are skipped in which only such a reference keeps
// a dependent, because it cannot be resolved: without it the dependent is garbage by its other
// references, along with its own dependents.
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

// garbageWithout reports whether an object has references besides those to a UID, and all of them
// name absent owners.
func (r *rig) garbageWithout(o *object.Object, uid types.UID) bool {
	left := object.WithoutOwners(o.Owners, []types.UID{uid})
	for _, ref := range left {
		if r.stateOf(ref, o.Namespace) != dangling {
			return false
		}
	}
	return len(left) > 0
}

// goesWithout is garbageWithout, but waiting owners don't keep the object either.
func (r *rig) goesWithout(o *object.Object, uid types.UID) bool {
	left := object.WithoutOwners(o.Owners, []types.UID{uid})
	stays := func(ref object.OwnerReference) bool {
		state := r.stateOf(ref, o.Namespace)
		return state != dangling && state != waiting
	}
	return len(left) > 0 && !slices.ContainsFunc(left, stays)
}

// givenUp reports whether the collector drops the attempt of the original object: it is
// cluster-scoped and refers to a namespaced kind.
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

// Safety with overlapping attempts and lagging watches. One exception: an owner that was waiting
// when it was read may be solid before the request arrives, when its own finalizer is removed and a
// foreign one stays (Q24).
func TestPropertySafetyWhileOverlapping(t *testing.T) {
	deletes := 0
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild)
		r := newRig(t, w)
		r.judgeWhileOverlapping(w, &deletes)
		r.sync().act(scenario.DrawDeletes(t, w, scenario.Policies)...).explore(rapid.Uint64().Draw(t, "seed"))
	})
	if deletes == 0 {
		t.Error("nothing was ever deleted: the property says nothing")
	}
}

// judgeWhileOverlapping judges and counts every DELETE of overlapping attempts: they may know that
// an owner waits for longer than it does.
func (r *rig) judgeWhileOverlapping(w scenario.World, deletes *int) {
	for _, o := range w.Objects {
		r.waited[o.UID] = o.WaitingForDependents()
	}
	r.judge = func(o *object.Object) string {
		*deletes++
		judged := o.Clone()
		judged.Owners = slices.DeleteFunc(slices.Clone(o.Owners), func(ref object.OwnerReference) bool { return r.waited[ref.UID] })
		if len(o.Owners) > 0 && len(judged.Owners) == 0 {
			return ""
		}
		return r.innocent(judged)
	}
}

// Strict rules keep every object with an owner that is alive under any coordinates, or has a kind
// that no path serves. This excludes the second of two objects with one UID, because the graph
// knows only one, and kinds that are not watched.
func TestPropertyStrict(t *testing.T) {
	deletes := 0
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild&^(scenario.RepeatedUIDs|scenario.Unwatched))
		r := newRig(t, w, engine.WithRules(engine.Strict))
		r.strict = true
		r.judge = func(o *object.Object) string {
			deletes++
			return r.protected(o)
		}
		acts := scenario.DrawDeletes(t, w, scenario.Policies)
		r.sync().act(acts...).drain()
		r.act(scenario.DrawMeddling(t, w, acts)).drain()
		if len(r.collector.Absent()) > 0 {
			r.fatalf("remembered %v", r.collector.Absent())
		}
	})
	if deletes == 0 {
		t.Error("nothing was ever deleted: the property says nothing")
	}
}

// protected returns why strict rules may not delete an object, "" if they may.
func (r *rig) protected(o *object.Object) string {
	for _, ref := range o.Owners {
		if resource, err := r.server.Resource(ref.APIVersion, ref.Kind); err == nil && !resource.Served() {
			return ref.Kind + " is not served"
		}
		for _, owner := range r.server.Objects() {
			if owner.UID == ref.UID && r.stateOf(ref, o.Namespace) != waiting {
				return owner.Ref.String() + " is alive"
			}
		}
	}
	return r.innocent(o)
}

// Liveness of strict rules with a grace period for absence: an object that loses its last living
// owner during the grace period of another one is not forgotten.
func TestPropertyStrictLiveness(t *testing.T) {
	garbage, waited := 0, false
	scenario.CheckUntil(t, func() bool { return garbage > 0 && waited }, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild&^(scenario.RepeatedUIDs|scenario.Unwatched))
		r := newRig(t, w, engine.WithRules(engine.Strict))
		r.strict, r.pending = true, map[object.Ref]bool{}
		acts := scenario.DrawDeletes(t, w, scenario.Policies)
		r.sync().drain().act(acts...).drain()
		r.act(scenario.DrawMeddling(t, w, acts)).drain()
		r.proven = map[object.Ref]bool{}
		r.drain()
		waited = waited || len(r.proven) > 0
		garbage += r.lookedAfter()
	})
}
