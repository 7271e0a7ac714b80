package plan_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestStepsOfCollectionsNameTheirCause checks that each removal names the request that caused it,
// and not one that merely came before it. A namespace deletes its content one kind at a time.
func TestStepsOfCollectionsNameTheirCause(t *testing.T) {
	in := func(kind, name string) *object.Object {
		return &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: kind, Namespace: "n", Name: name, UID: types.UID(kind + "-" + name)}, ResourceVersion: "1"}
	}
	ns := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "n", UID: "ns"}, ResourceVersion: "1",
		Lifecycle: &object.Lifecycle{Facts: &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}}}
	snap := wholeSnapshot(t, ns, in("ConfigMap", "a"), in("ConfigMap", "b"), in("Secret", "a"))
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, ns.Ref), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	removed, collections := 0, 0
	for _, step := range result.Plan.Steps {
		if step.Verb == "DELETECOLLECTION" {
			collections++
			if step.Object.Name != "" || step.Actor != "namespace-controller" || step.Policy != "Background" {
				t.Errorf("step %d: %+v", step.N, step)
			}
		}
		if step.Verb != "REMOVED" {
			continue
		}
		removed++
		cause := causeOf(result.Plan, step)
		if cause.Object.Kind != step.Object.Kind || step.Object.Namespace != cause.Object.Namespace {
			t.Errorf("step %d removes %s because of step %d, %s %s", step.N, step.Object.KubectlName(), cause.N, cause.Verb, cause.Object.KubectlName())
		}
	}
	if removed != 4 || collections != 2 {
		t.Errorf("%d removals and %d collections, want 4 and 2: %+v", removed, collections, result.Plan.Steps)
	}
}

func causeOf(p *report.Plan, s report.Step) report.Step {
	if s.Cause == 0 {
		return report.Step{}
	}
	return p.Steps[s.Cause-1]
}
