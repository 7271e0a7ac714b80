package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestBecauseNamesEveryOwner checks that a plan names the owners that decide, at any position among
// the references and under both rules.
func TestBecauseNamesEveryOwner(t *testing.T) {
	for _, n := range []int{63, 64, 65, 200} {
		for _, tt := range []struct {
			name                 string
			owners               func(i int) string
			outcome              report.Outcome
			because, removed     int
			strict               report.Outcome
			strictReason, reason string
		}{
			{
				name: "all absent", owners: func(i int) string { return fmt.Sprintf("v1:ConfigMap:o%d:o%d", i, i) },
				outcome: report.Deleted, because: n, reason: "NoExistingOwner", strict: report.Deleted, strictReason: "NoExistingOwner",
			},
			{
				name: "the last one is there", owners: func(i int) string {
					if i == n-1 {
						return "home"
					}
					return fmt.Sprintf("v1:ConfigMap:o%d:o%d", i, i)
				},
				outcome: report.Pruned, because: 1, removed: n - 1, reason: "DanglingReferences",
				strict: report.Pruned, strictReason: "DanglingReferences",
			},
			{
				name: "the last one is in another namespace", owners: func(i int) string {
					if i == n-1 {
						return "v1:ConfigMap:away:away"
					}
					return fmt.Sprintf("v1:ConfigMap:o%d:o%d", i, i)
				},
				outcome: report.Deleted, because: n, reason: "NoExistingOwner", strict: report.Kept, strictReason: "AbsenceNotProven",
			},
		} {
			var owners []string
			for i := range n {
				owners = append(owners, tt.owners(i))
			}
			objects, err := scenario.ParseWorld("v1 ConfigMap n/home\nv1 ConfigMap m/away\nv1 Secret n/c owners="+strings.Join(owners, ","), scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
			if err != nil {
				t.Fatal(err)
			}
			for _, rules := range []engine.Rules{engine.Upstream, engine.Strict} {
				result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{Rules: rules})
				if err != nil {
					t.Fatal(err)
				}
				outcome, reason, because := tt.outcome, tt.reason, tt.because
				if rules == engine.Strict {
					outcome, reason = tt.strict, tt.strictReason
					if outcome == report.Kept {
						because = 1
					}
				}
				var e report.Effect
				for _, x := range result.Plan.Effects {
					if object.Ref(x.Object).Name == "c" {
						e = x
					}
				}
				if e.Outcome != outcome || e.Reason != reason || len(e.Because) != because || outcome == report.Pruned && len(e.RemovedReferences) != tt.removed {
					t.Errorf("%d owners, %s, %s: %s %s because of %d, %d removed; want %s %s because of %d, %d removed",
						n, tt.name, rules, e.Outcome, e.Reason, len(e.Because), len(e.RemovedReferences), outcome, reason, because, tt.removed)
				}
			}
		}
	}
}
