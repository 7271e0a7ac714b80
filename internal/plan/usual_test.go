package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestPlanShowsTheUsualEnd checks that a plan shows the end that a server reached in three runs of
// three, and marks the other end that exploring finds. Each dump in testdata/usual has a JSON file
// with the deleted object and the objects that were gone afterwards.
func TestPlanShowsTheUsualEnd(t *testing.T) {
	files, err := filepath.Glob("testdata/usual/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	marked := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var truth struct {
				Delete struct {
					UID    types.UID
					Policy string
				}
				Fates []struct {
					UID  types.UID
					Name string
					Gone bool
				}
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err = json.Unmarshal(text, &truth); err != nil {
				t.Fatal(err)
			}
			snap, err := snapshot.ReadFiles([]string{strings.TrimSuffix(file, ".json") + ".tar.gz"}, snapshot.Options{})
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(snap.Objects, func(o *object.Object) bool { return o.UID == truth.Delete.UID })
			policy := map[string]engine.Policy{
				"background": engine.Background, "foreground": engine.ForegroundPolicy, "orphan": engine.OrphanPolicy,
			}[truth.Delete.Policy]
			result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(policy, snap.Objects[at].Ref), plan.Options{Explore: plan.Usual})
			if err != nil {
				t.Fatal(err)
			}
			effects := map[types.UID]*report.Effect{}
			for i := range result.Plan.Effects {
				e := &result.Plan.Effects[i]
				effects[e.Object.UID] = e
				if len(e.Otherwise) > 0 {
					marked++
				}
			}
			for _, f := range truth.Fates {
				e := effects[f.UID]
				if gone := e != nil && e.Outcome == report.Deleted; gone != f.Gone {
					t.Errorf("%s: gone on the server: %v, in the plan: %+v", f.Name, f.Gone, e)
				}
			}
		})
	}
	if marked == 0 {
		t.Error("no object is marked as one that may end otherwise")
	}
}
