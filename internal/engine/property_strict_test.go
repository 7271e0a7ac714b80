package engine_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// Safety while attempts overlap and watches lag. One exception: an owner that was
// waiting when it was read may have become solid before the request arrives, as
// its own finalizer goes and a foreign one stays (Q24).
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

// judgeWhileOverlapping judges and counts every DELETE of attempts that overlap: that an
// owner has waited is known to them for longer than it is so.
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

// Strict rules keep every object one of whose owners is alive under any
// coordinates, or has a kind that no path serves. Of objects with one UID the
// graph knows one, so that there is no such promise for the other; and it knows
// nothing of kinds that are not watched.
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

// protected says why strict rules may not delete an object; empty when they may.
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

// Liveness by strict rules, where absence counts only after a while: an object that loses
// its last living owner during the grace period of another one is not forgotten.
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
