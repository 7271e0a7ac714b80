package plan_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestUnfolded: a delete that is simulated among objects that stand for others comes to the same
// document as among all that it may reach.
func TestUnfolded(t *testing.T) {
	stood := 0
	scenario.CheckUntil(t, func() bool { return stood > 0 }, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawCopies(t).DrawSnapshot(t, 6)
		policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
		targets := []object.Ref{rapid.SampledFrom(ownersOrAll(snap)).Draw(t, "target").Ref}
		if rapid.Bool().Draw(t, "two") {
			targets = append(targets, rapid.SampledFrom(snap.Objects).Draw(t, "other").Ref)
		}
		seed, o := plan.DeleteSeed(policy, targets...), plan.Options{NoSteps: true, Unrecorded: true, OnlyNear: rapid.Bool().Draw(t, "near")}
		want, got, stand, err := plan.SimulateFolded(t.Context(), snap, seed, o)
		if err != nil {
			t.Fatal(err)
		}
		if got == nil {
			return
		}
		stood += stand
		if diff := cmp.Diff(want.Plan, got.Plan); diff != "" {
			t.Fatalf("%s delete of %v (-all +unfolded):\n%s\nin\n%s", policy, targets, diff, scenario.World{Objects: snap.Objects})
		}
		if diff := cmp.Diff(text(t, unversioned(want.After())), text(t, unversioned(got.After()))); diff != "" {
			t.Fatalf("%s delete of %v leaves (-all +unfolded):\n%s\nin\n%s", policy, targets, diff, scenario.World{Objects: snap.Objects})
		}
	})
	t.Logf("%d effects were told of others", stood)
}

// TestFoldable: only a plan that nobody acts by is made of objects that stand for others, and
// only where nothing was seen that tells these apart.
func TestFoldable(t *testing.T) {
	snap, err := snapshot.New(nil, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	seen := func(w *evidence.World) plan.Options {
		return plan.Options{NoSteps: true, Unrecorded: true, Explore: plan.Usual, Surroundings: evidence.New(snap, w, 0)}
	}
	for list := range reflect.TypeFor[evidence.Shown]().Fields() {
		var w evidence.World
		one := reflect.ValueOf(&w.Shown).Elem().FieldByIndex(list.Index)
		one.Set(reflect.MakeSlice(list.Type, 1, 1))
		if seen(&w).Foldable() {
			t.Errorf("%s that were seen do not count", list.Name)
		}
	}
	for name, test := range map[string]struct {
		options plan.Options
		want    bool
	}{
		"a plan that is shown":       {plan.Options{NoSteps: true, Unrecorded: true, Explore: plan.Usual}, true},
		"nothing was seen":           {seen(&evidence.World{}), true},
		"a plan with steps":          {plan.Options{Unrecorded: true, Explore: plan.Usual}, false},
		"a plan that is carried out": {plan.Options{NoSteps: true, Explore: plan.Usual}, false},
		"other schedules":            {plan.Options{NoSteps: true, Unrecorded: true, Explore: 20}, false},
	} {
		if got := test.options.Foldable(); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// ownersOrAll are the objects that somebody names as an owner, and the containers; all if there are
// none.
func ownersOrAll(snap *snapshot.Snapshot) []*object.Object {
	named := map[types.UID]bool{}
	for _, o := range snap.Objects {
		for _, ref := range o.Owners {
			named[ref.UID] = true
		}
	}
	owners := slices.DeleteFunc(slices.Clone(snap.Objects), func(o *object.Object) bool { return !named[o.UID] && !impact.Container(o) })
	if len(owners) == 0 {
		return snap.Objects
	}
	return owners
}
