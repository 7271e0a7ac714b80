package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestMoreChangesNothing checks that a complete plan of a part of a world agrees with the plan of
// the whole. A delete has no other effects there. A collection has the same effects on seen
// objects, and may find more garbage. References to objects of other namespaces are excluded: the
// collector does not look up such owners, but a foreground deletion waits for all objects that
// refer to its UID, and so may last longer than the plan says.
func TestMoreChangesNothing(t *testing.T) {
	complete, incomplete := map[plan.Verb]int{}, map[plan.Verb]int{}
	met := func() bool {
		return complete["delete"] > 0 && incomplete["delete"] > 0 && complete[plan.Collect] > 0 && incomplete[plan.Collect] > 0
	}
	scenario.CheckUntil(t, met, func(t *rapid.T) {
		whole, part := scenario.DrawBlind(t)
		if len(part.Objects) == 0 || len(part.Gaps) == 0 || scenario.Crossed(whole) {
			return
		}
		o := rapid.SampledFrom(part.Objects).Draw(t, "object")
		seed, options := plan.CollectSeed(), plan.Options{NoSteps: true}
		switch rapid.IntRange(0, 5).Draw(t, "question") {
		case 0:
		case 1:
			options.Rules = engine.Strict
		default:
			policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
			seed, options.OnlyNear = plan.DeleteSeed(policy, o.Ref), true
		}
		got := planned(t, part, seed, options)
		if !got.Complete {
			incomplete[seed.Verb]++
			return
		}
		complete[seed.Verb]++
		want := planned(t, whole, seed, options)
		seen := func(e report.Effect) bool {
			return part.Find(e.Object.APIVersion, e.Object.Kind, e.Object.Namespace, e.Object.Name) != nil
		}
		if diff := cmp.Diff(changes(want, got, seen), changes(got, want, seen)); diff != "" {
			t.Fatalf("%s %s %s (-whole +part):\n%s\ngaps %v in\n%s", seed.Verb, options.Rules, o.Ref, diff, part.Gaps, scenario.World{Objects: whole.Objects})
		}
	})
	t.Logf("complete %v, incomplete %v", complete, incomplete)
}

func planned(t *rapid.T, snap *snapshot.Snapshot, seed plan.Seed, o plan.Options) *report.Plan {
	result, err := plan.Simulate(t.Context(), snap, seed, o)
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan
}

// changes returns the changes that a complete plan promises. A change that happens anyway counts if
// the other plan treats it as a consequence of the request.
func changes(p, other *report.Plan, seen func(report.Effect) bool) map[string]report.Outcome {
	caused := map[report.Ref]bool{}
	for _, e := range other.Effects {
		caused[e.Object] = !e.AlreadyHappening
	}
	list := map[string]report.Outcome{}
	for _, e := range p.Effects {
		asked := !e.AlreadyHappening || caused[e.Object]
		if p.Seed.Verb == "collect" {
			asked = seen(e)
		}
		if asked && e.Outcome != report.Kept {
			list[object.Ref(e.Object).String()] = e.Outcome
		}
	}
	return list
}
