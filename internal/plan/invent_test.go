package plan_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestExploringLeavesAPIServicesAlone checks that the API server sees every definition. An
// incomplete pass of the controller that iterates over definitions does not remove APIs.
func TestExploringLeavesAPIServicesAlone(t *testing.T) {
	const world = `v1 Namespace n phase=Active spec=kubernetes
apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com uid=ws defines=example.com/v1:Widget:widgets established
apiregistration.k8s.io/v1 APIService v1.example.com labels=kube-aggregator.kubernetes.io/automanaged=true
v1 ConfigMap n/a
v1 ConfigMap n/b
v1 Secret n/c owners=a,b
`
	objects, err := scenario.ParseWorld(world, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []object.Ref{snap.Objects[len(snap.Objects)-1].Ref, snap.Find("v1", "ConfigMap", "n", "a").Ref} {
		result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, target), plan.Options{Explore: 40})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range result.Plan.Effects {
			if e.Object.Kind == "APIService" {
				t.Errorf("delete of %s: %s %s: %s", target, e.Object.Name, e.Outcome, e.Message)
			}
		}
	}
}

// TestExploringInventsNothing checks that no other schedule changes an object that the delete does
// not reach and that would not change on its own.
func TestExploringInventsNothing(t *testing.T) {
	contested := 0
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 7)
		collector, _ := plan.Open(snap, engine.Upstream)
		m := impact.New(snap, collector.Graph())
		target := rapid.SampledFrom(snap.Objects).Draw(t, "target")
		policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
		reached := map[object.Ref]bool{}
		for _, o := range m.Region(target).Objects() {
			reached[o.Ref] = true
		}
		for _, e := range simulate(t, snap, plan.DeleteSeed(policy, target.Ref), plan.Options{Explore: 5}).Plan.Effects {
			if e.Outcome == report.Unknown || !e.DependsOnTiming {
				continue
			}
			contested++
			o := snap.Find(e.Object.APIVersion, e.Object.Kind, e.Object.Namespace, e.Object.Name)
			if !reached[o.Ref] && m.Settled(o) {
				t.Fatalf("%s delete of %s: %s is out of reach, and %s (%s)", policy, target.Ref, o.Ref, e.Outcome, e.Message)
			}
		}
	})
	if contested == 0 {
		t.Error("nothing was contested: the property shows nothing")
	}
}

// TestOneEnd checks that no schedule finds another end if a plan says, without trying, that there
// is only one.
func TestOneEnd(t *testing.T) {
	certain, several := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 7)
		policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
		var targets []object.Ref
		for range rapid.IntRange(1, 2).Draw(t, "targets") {
			targets = append(targets, rapid.SampledFrom(snap.Objects).Draw(t, "target").Ref)
		}
		seed := plan.DeleteSeed(policy, targets...)
		usual := simulate(t, snap, seed, plan.Options{Explore: plan.Usual})
		if usual.Plan.Exploration.State != report.OneEnd {
			several++
			return
		}
		if usual.Plan.Exploration.Objects > 1 {
			certain++
		}
		for _, e := range simulate(t, snap, seed, plan.Options{Explore: 30}).Plan.Effects {
			if e.DependsOnTiming {
				t.Fatalf("%s delete of %v: %v, and %s: %s %v in\n%s", policy, targets, *usual.Plan.Exploration,
					object.Ref(e.Object), e.Outcome, e.Otherwise, scenario.World{Objects: snap.Objects})
			}
		}
	})
	if certain == 0 || several == 0 {
		t.Errorf("%d certain plans and %d others: the property shows nothing", certain, several)
	}
	t.Logf("%d certain plans, %d others", certain, several)
}
