package engine_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

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
