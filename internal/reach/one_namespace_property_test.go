package reach_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// drawn is a world, its part for namespace n, and an object of that namespace.
type drawn struct {
	whole, part *snapshot.Snapshot
	target      object.Ref
}

// draw draws a world in which some kinds cannot be listed. Its uids are unique: see the contract of
// the package.
func drawPart(t *rapid.T, allowed scenario.Variety) drawn {
	w := scenario.DrawCluster(t, allowed&^scenario.RepeatedUIDs)
	whole, part := &snapshot.Coverage{}, &snapshot.Coverage{}
	refused := map[string]bool{}
	for _, r := range scenario.Resources().All() {
		gr := r.GroupResource()
		if rapid.IntRange(0, 30).Draw(t, "refused") == 30 {
			refused[gr.String()] = true
			whole.Fail(gr, "", reason.Forbidden, "")
			if r.Namespaced && !deploys(r) {
				part.Fail(gr, "n", reason.Forbidden, "")
			} else {
				part.Fail(gr, "", reason.Forbidden, "")
			}
			continue
		}
		whole.Add(gr, "")
		if r.Namespaced && !deploys(r) {
			part.Add(gr, "n")
		} else {
			part.Add(gr, "")
		}
	}
	part.LeaveOut("only some namespaces were looked at")
	var seen, near []*object.Object
	for _, o := range w.Objects {
		if r, err := scenario.Resources().For(o.APIVersion, o.Kind); err == nil && refused[r.GroupResource().String()] {
			continue
		}
		seen = append(seen, o.Clone())
		if o.Namespace == "" || o.Namespace == "n" || o.Is(object.ArgoApplication) || o.Is(object.FluxKustomization) {
			near = append(near, o.Clone())
		}
	}
	if !slices.ContainsFunc(near, func(o *object.Object) bool { return o.Namespace == "n" }) {
		lone := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "lone", UID: "lone"}, ResourceVersion: "1"}
		seen, near = append(seen, lone.Clone()), append(near, lone)
	}
	d := drawn{whole: made(t, seen, whole), part: made(t, near, part)}
	inside := slices.DeleteFunc(slices.Clone(d.part.Objects), func(o *object.Object) bool { return o.Namespace != "n" })
	d.target = rapid.SampledFrom(inside).Draw(t, "target").Ref
	return d
}

// deploys reports whether the objects of a resource list what a deployer has applied: these are seen in
// all namespaces.
func deploys(r object.Resource) bool { return r.Kind == "Application" || r.Kind == "Kustomization" }

func made(t *rapid.T, objects []*object.Object, c *snapshot.Coverage) *snapshot.Snapshot {
	return scenario.World{Objects: objects}.Snapshot(t, c)
}

// varieties are worlds of any kind, and worlds with mostly valid references: a part is rarely
// sufficient for the former.
func varieties(t *rapid.T) scenario.Variety {
	if rapid.Bool().Draw(t, "wild") {
		return scenario.Wild
	}
	return scenario.Aliases | scenario.Graceful | scenario.Mismatches | scenario.RepeatedOwners | scenario.ForeignFinalizers | scenario.Cycles
}

// TestPlan: a plan of a sufficient part has the effects of the plan of the whole, without those in
// other namespaces. The delete has no effects there.
func TestPlan(t *testing.T) {
	enough := 0
	scenario.CheckUntil(t, func() bool { return enough > 0 }, func(t *rapid.T) {
		d := drawPart(t, varieties(t))
		seed := plan.DeleteSeed(engine.Background, d.target)
		part := simulated(t, d.part, seed)
		if reach.InNamespace(d.part, "n").WhyPlanDiffers(part) != "" {
			return
		}
		enough++
		whole := simulated(t, d.whole, seed)
		inside := whole.Effects[:0:0]
		for _, e := range whole.Effects {
			switch {
			case e.Object.Namespace == "n":
				inside = append(inside, e)
			case !e.AlreadyHappening && e.Outcome != report.Kept && e.Outcome != report.Unknown:
				t.Fatalf("the delete has an effect elsewhere: %+v", e)
			}
		}
		if diff := cmp.Diff(concerning(inside), concerning(part.Effects)); diff != "" {
			t.Fatalf("effects (-whole +part):\n%s", diff)
		}
		if !part.Complete {
			for _, g := range part.Gaps {
				if strings.HasPrefix(g.Why, string(reason.LeftOut)) {
					t.Fatalf("what was left out by choice makes it incomplete: %+v", g)
				}
			}
		}
	})
	t.Logf("enough in %d worlds", enough)
}

// concerning are effects as they matter to the delete. For those that happen anyway, only that they
// do is compared: which of several absent owners is found first depends on the order.
func concerning(effects []report.Effect) []report.Effect {
	effects = slices.Clone(effects)
	for i, e := range effects {
		if e.AlreadyHappening {
			effects[i] = report.Effect{Object: e.Object, Outcome: e.Outcome, AlreadyHappening: true}
		}
	}
	return effects
}

func simulated(t *rapid.T, snap *snapshot.Snapshot, seed plan.Seed) *report.Plan {
	result, err := plan.Simulate(t.Context(), snap, seed, plan.Options{Record: plan.RecordRequests})
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan
}

// TestExplanation: an explanation from a sufficient part is that of the whole.
func TestExplanation(t *testing.T) {
	enough := 0
	scenario.CheckUntil(t, func() bool { return enough > 0 }, func(t *rapid.T) {
		d := drawPart(t, varieties(t))
		part := explained(t, d.part, d.target)
		if reach.InNamespace(d.part, "n").WhyExplanationDiffers(part) != "" {
			return
		}
		enough++
		whole := explained(t, d.whole, d.target)
		whole.Dependents = slices.DeleteFunc(whole.Dependents, func(f report.DependentFinding) bool {
			return f.Ref.Namespace != "" && f.Ref.Namespace != "n"
		})
		whole.Gaps, whole.Complete = part.Gaps, part.Complete
		if diff := cmp.Diff(whole, part); diff != "" {
			t.Fatalf("of %s (-whole +part):\n%s\nin\n%s", d.target, diff, scenario.World{Objects: d.whole.Objects})
		}
	})
	t.Logf("enough in %d worlds", enough)
}

func explained(t *rapid.T, snap *snapshot.Snapshot, ref object.Ref) *report.Explanation {
	e, err := diagnose.Explain(t.Context(), snap, ref, diagnose.ExplanationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
