package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestReachedIsAll checks that a delete that is simulated on the reached objects leads to the same
// document as on the whole snapshot, and leaves the same objects. It takes the same steps, but
// independent steps may have another order, because that depends on what else the collector looks
// at.
func TestReachedIsAll(t *testing.T) {
	parts := 0
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 7)
		policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
		var targets []object.Ref
		for range rapid.IntRange(1, 2).Draw(t, "targets") {
			targets = append(targets, rapid.SampledFrom(snap.Objects).Draw(t, "target").Ref)
		}
		o := plan.Options{Explore: rapid.SampledFrom([]int{plan.Usual, 2}).Draw(t, "explore"), OnlyNear: rapid.Bool().Draw(t, "near")}
		seed := plan.DeleteSeed(policy, targets...)
		got, err := plan.Simulate(t.Context(), snap, seed, o)
		if err != nil {
			t.Fatal(err)
		}
		if got.IsPart() {
			parts++
		}
		want, err := plan.SimulateWhole(t.Context(), snap, seed, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(taken(want.Plan.Steps), taken(got.Plan.Steps)); diff != "" {
			t.Fatalf("%s delete of %v takes other steps, in\n%s\n%s", policy, targets, scenario.World{Objects: snap.Objects}, diff)
		}
		want.Plan.Steps, got.Plan.Steps = nil, nil
		if diff := cmp.Diff(text(t, want.Plan), text(t, got.Plan)); diff != "" {
			t.Fatalf("%s delete of %v in\n%s\n%s", policy, targets, scenario.World{Objects: snap.Objects}, diff)
		}
		if diff := cmp.Diff(text(t, unversioned(want.After())), text(t, unversioned(got.After()))); diff != "" {
			t.Fatalf("%s delete of %v leaves, in\n%s\n%s", policy, targets, scenario.World{Objects: snap.Objects}, diff)
		}
	})
	if parts == 0 {
		t.Error("no delete was simulated in a part: the property shows nothing")
	}
	t.Logf("%d in a part", parts)
}

// unversioned returns copies without resource versions, which depend on the order of the steps.
func unversioned(objects []*object.Object) []*object.Object {
	list := make([]*object.Object, 0, len(objects))
	for _, o := range objects {
		o = o.Clone()
		o.ResourceVersion = ""
		list = append(list, o)
	}
	return list
}

// taken returns sorted steps without their numbers and without resource versions, which depend on
// the order.
func taken(steps []report.Step) []string {
	var list []string
	for _, s := range steps {
		s.N, s.Cause = 0, 0
		if strings.Contains(s.Patch, "resourceVersion") {
			s.Patch = ""
		}
		list = append(list, fmt.Sprint(s))
	}
	slices.Sort(list)
	return list
}

func text(t *rapid.T, document any) string {
	b, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
