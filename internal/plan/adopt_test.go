package plan_test

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestAdoption checks that the plan assumes that no controller adopts an orphaned object, if one
// could or might be able to, and only then.
//
// Covers: S243
func TestAdoption(t *testing.T) {
	const set = "apps/v1 ReplicaSet s/first\n"
	const pod = set + "v1 Pod s/p owners=first!^ node=n1 phase=Running\n"
	for name, test := range map[string]struct {
		world  string
		hidden string
		want   bool
	}{
		"another ReplicaSet":                    {pod + "apps/v1 ReplicaSet s/second", "", true},
		"a StatefulSet":                         {pod + "apps/v1 StatefulSet s/second", "", true},
		"nobody":                                {pod, "", false},
		"one elsewhere":                         {pod + "apps/v1 ReplicaSet t/second", "", false},
		"one that goes":                         {pod + "apps/v1 ReplicaSet s/second deleting fin=x/y", "", false},
		"a kind that does not adopt pods":       {pod + "apps/v1 Deployment s/second", "", false},
		"DaemonSets were not seen":              {pod, "DaemonSet", true},
		"Deployments were not seen":             {pod, "Deployment", false},
		"a pod that another one controls":       {set + "apps/v1 StatefulSet s/second\nv1 Pod s/p owners=first!,second^ node=n1", "", false},
		"a ReplicaSet and another Deployment":   {"apps/v1 Deployment s/d\napps/v1 ReplicaSet s/r owners=d!^\napps/v1 Deployment s/other", "", true},
		"a ReplicaSet and nobody":               {"apps/v1 Deployment s/d\napps/v1 ReplicaSet s/r owners=d!^", "", false},
		"what nobody adopts":                    {set + "v1 ConfigMap s/c owners=first^\napps/v1 ReplicaSet s/second", "", false},
		"a revision and another StatefulSet":    {"apps/v1 StatefulSet s/d\napps/v1 ControllerRevision s/r owners=d!^\napps/v1 StatefulSet s/other", "", true},
		"a pod that is being deleted meanwhile": {set + "v1 Pod s/p owners=first!^ node=n1 deleting=+30 grace=30\napps/v1 ReplicaSet s/second", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := scenario.ParseWorld(test.world, scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			target := objects[0].Ref
			coverage := allBut(test.hidden, reason.NotInDump)
			snap, err := snapshot.New(objects, scenario.Resources(), coverage, snapshot.Source{})
			if err != nil {
				t.Fatal(err)
			}
			result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.OrphanPolicy, target), plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			said := slices.ContainsFunc(result.Plan.Effects, func(e report.Effect) bool {
				return e.Outcome == report.Orphaned && slices.Contains(e.Assumptions, controllers.AdoptionAssumption)
			})
			if said != test.want {
				t.Errorf("said %v, want %v: %+v", said, test.want, result.Plan.Effects)
			}
		})
	}
}
