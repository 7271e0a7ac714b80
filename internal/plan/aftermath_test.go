package plan_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestAftermath checks that an object that is only deleted in the end because of a delete is in the
// account of that delete. The ends with and without the delete are simulated step by step, each
// from the objects that the previous step has left, without knowledge of the request. In each step
// a collector starts. It may look at objects that a running one never looks at again. Such an
// object is in the account of a plan that has tried other orders.
func TestAftermath(t *testing.T) {
	followed := 0
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawCluster(t, scenario.DrawVariety(t))
		snap := w.Snapshot(t, snapshot.CoversEverything())
		if slices.ContainsFunc(snap.Problems, func(p snapshot.Problem) bool { return p.Kind == snapshot.DuplicateUID }) {
			t.Skip("of two objects with one uid a collector knows one, and which one depends on when it started")
		}
		target := rapid.SampledFrom(snap.Objects).Draw(t, "target")
		policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
		planned := func(explore int) (*plan.Result, map[object.Ref]bool) {
			p, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(policy, target.Ref), plan.Options{Record: plan.RecordRequests, Explore: explore})
			if err != nil {
				t.Fatal(err)
			}
			account := map[object.Ref]bool{}
			for e := range p.Plan.Account() {
				account[e.Object] = true
			}
			return p, account
		}
		p, account := planned(0)
		unknown := map[object.Ref]bool{} // unknown in the plan, with or without the delete
		for _, e := range p.Plan.Effects {
			unknown[e.Object] = e.Outcome == report.Unknown
		}
		with, without := ended(t, p.After()), ended(t, snap.Objects)
		for _, o := range snap.Objects {
			if with[o.Ref] || !without[o.Ref] || unknown[o.Ref] {
				continue
			}
			followed++
			if account[o.Ref] {
				continue
			}
			if other, tried := planned(plan.Usual); !tried[o.Ref] && !mayBeCollected(t, snap, o.Ref) {
				t.Fatalf("%s is gone in the end because of the delete of %s and is not in the account; in\n%s\n%s",
					o.Ref, target.Ref, scenario.World{Objects: snap.Objects}.String(), accountText(other.Plan))
			}
		}
	})
	if followed == 0 {
		t.Error("nothing ever went")
	}
}

// ended returns the objects that remain after two steps are repeated until nothing changes: the
// collector and all controllers start and settle, and then all finalizers of other controllers are
// removed from objects that are being deleted.
func ended(t *rapid.T, objects []*object.Object) map[object.Ref]bool {
	step := func(seed plan.Seed) []*object.Object {
		snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
		if err != nil {
			t.Fatal(err)
		}
		return simulate(t, snap, seed, plan.Options{Record: plan.RecordRequests}).After()
	}
	for n := 0; ; n++ {
		if n > 30 {
			t.Fatalf("no end:\n%s", scenario.World{Objects: objects}.String())
		}
		before := sorted(objects)
		objects = step(plan.CollectSeed())
		var names []string
		var held []object.Ref
		for _, o := range objects {
			if o.BeingDeleted() && slices.ContainsFunc(o.Finalizers(), ofOthers) {
				names, held = append(names, o.Finalizers()...), append(held, o.Ref)
			}
		}
		if names = slices.DeleteFunc(names, func(name string) bool { return !ofOthers(name) }); len(names) > 0 {
			objects = step(plan.RemoveFinalizerSeed(names, held...)) // the controllers see what goes
			continue
		}
		if slices.EqualFunc(before, sorted(objects), sameStanding) {
			left := map[object.Ref]bool{}
			for _, o := range objects {
				left[o.Ref] = true
			}
			return left
		}
	}
}

// mayBeCollected reports whether a collector that starts deletes an object if its lists arrive in another order:
//
//	clusterrole/x names event/e of a namespace as its owner, which it cannot have, and cm/a has the same owner:
//	event/e, of which nothing watches the kind, is looked up only if cm/a comes first
func mayBeCollected(t *rapid.T, snap *snapshot.Snapshot, ref object.Ref) bool {
	effects := simulate(t, snap, plan.CollectSeed(), plan.Options{Record: plan.RecordRequests, Explore: plan.Usual}).Plan.Effects
	return slices.ContainsFunc(effects, func(e report.Effect) bool { return e.Object == ref && e.IsDeleted() })
}

// sameStanding compares the fields that decide about deletion.
func sameStanding(a, b *object.Object) bool {
	return a.Ref == b.Ref && a.BeingDeleted() == b.BeingDeleted() && slices.Equal(a.Finalizers(), b.Finalizers()) && slices.Equal(a.Owners, b.Owners)
}

func ofOthers(finalizer string) bool {
	return finalizer != object.Foreground && finalizer != object.Orphan && finalizer != controllers.DefinitionCleanup
}

func sorted(objects []*object.Object) []*object.Object {
	return slices.SortedFunc(slices.Values(objects), func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
}
