package plan_test

import (
	"encoding/json"
	"fmt"
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
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestWhatMayBeRemembered checks that an end that depends on what a running garbage collector has
// seen is marked by default, together with the other end, and that nothing is marked if there is
// nothing to remember.
func TestWhatMayBeRemembered(t *testing.T) {
	for _, tt := range []struct {
		name, world, targets string
		policy               engine.Policy
		contested            []string
	}{
		{
			name: "a deletion that only a collector which starts takes up (Q20)",
			world: "v1 ConfigMap n/a\nv1 ConfigMap n/left deleting grace=0 fin=foregroundDeletion\n" +
				"v1 Secret n/other owners=a",
			targets: "a", policy: engine.Background,
			contested: []string{"left Deleted or Blocked memory"},
		},
		{
			name: "an owner that once waited for its dependents",
			world: "v1 ConfigMap n/a\nv1 ConfigMap n/b owners=a!\n" +
				"v1 ConfigMap n/c owners=b deleting grace=0 fin=x/y",
			targets: "a", policy: engine.ForegroundPolicy,
		},
		{
			name: "a member of a cycle that once waited: its owner stops blocking",
			world: "v1 ConfigMap n/a\nv1 ConfigMap n/b owners=a! fin=x/y\n" +
				"v1 ConfigMap n/c owners=b! deleting grace=0 fin=x/y",
			targets: "a", policy: engine.ForegroundPolicy,
			contested: []string{"a Blocked or Deleted memory", "b Blocked or Blocked memory or Blocked memory"},
		},
		{
			name: "an owner of a kind that is not served may be remembered as absent",
			world: "v1 ConfigMap n/a\nv1 Secret n/b owners=a,example.org/v1:Unknown:x:x\n" +
				"v1 Secret n/c owners=a",
			targets: "a", policy: engine.Background,
			contested: []string{"b Kept or Deleted memory"},
		},
		{
			name:    "nothing to remember",
			world:   "v1 ConfigMap n/a\nv1 Secret n/b owners=a fin=x/y",
			targets: "a", policy: engine.Background,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names := scenario.Names{}
			objects, err := scenario.ParseWorld(tt.world, names)
			if err != nil {
				t.Fatal(err)
			}
			snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{Discovered: true})
			if err != nil {
				t.Fatal(err)
			}
			var targets []object.Ref
			for uid := range strings.FieldsSeq(tt.targets) {
				targets = append(targets, names[types.UID(uid)])
			}
			result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(tt.policy, targets...), plan.Options{Explore: plan.Usual})
			if err != nil {
				t.Fatal(err)
			}
			var contested []string
			for _, e := range result.Plan.Effects {
				if !e.DependsOnTiming {
					continue
				}
				line := fmt.Sprintf("%s %s", e.Object.Name, e.Outcome)
				for _, o := range e.Otherwise {
					line += fmt.Sprintf(" or %s %s", o.Outcome, o.Because)
					if (o.Because == report.Memory) != (o.Remembered != "") || o.Message == "" {
						t.Errorf("%s: %+v", e.Object.Name, o)
					}
				}
				if strings.HasSuffix(line, "memory") && !strings.Contains(e.Message, "depends on what the garbage collector remembers: ") {
					t.Errorf("%s: %s", e.Object.Name, e.Message)
				}
				contested = append(contested, line)
			}
			if !slices.Equal(contested, tt.contested) {
				t.Errorf("contested: %q, want %q (%+v)", contested, tt.contested, *result.Plan.Exploration)
			}
		})
	}
}

// TestTooLargeToExplore checks that with more than 2,000 objects within reach nothing is tried
// unless requested, and that the plan says so.
func TestTooLargeToExplore(t *testing.T) {
	for _, tt := range []struct {
		leaves, explore int
		want            report.ExplorationState
		schedules       int
	}{
		{plan.MostInReach - 2, plan.Usual, report.Explored, 2},
		{plan.MostInReach - 1, plan.Usual, report.TooLarge, 0},
		{plan.MostInReach - 1, 1, report.Explored, 1},
	} {
		var w strings.Builder
		w.WriteString("v1 ConfigMap n/a\nv1 ConfigMap n/b fin=x/y owners=a\n")
		for i := range tt.leaves {
			fmt.Fprintf(&w, "v1 Secret n/s%d owners=a!\n", i)
		}
		objects, err := scenario.ParseWorld(w.String(), scenario.Names{})
		if err != nil {
			t.Fatal(err)
		}
		snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
		if err != nil {
			t.Fatal(err)
		}
		target := snap.Find("v1", "ConfigMap", "n", "a")
		result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.ForegroundPolicy, target.Ref), plan.Options{Record: plan.RecordRequests, Explore: tt.explore})
		if err != nil {
			t.Fatal(err)
		}
		e := *result.Plan.Exploration
		if e.State != tt.want || e.Schedules != tt.schedules || e.Objects != tt.leaves+2 {
			t.Errorf("%d leaves, explore %d: %+v, want %s and %d schedules", tt.leaves, tt.explore, e, tt.want, tt.schedules)
		}
	}
}

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
