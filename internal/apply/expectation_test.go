package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestSubjects: all predicted consequences are saved in the backup, immediate or later, deleted or
// changed, and all objects that we write to.
func TestSubjects(t *testing.T) {
	named := func(name string) report.Ref { return report.Ref{APIVersion: "v1", Kind: "Secret", Name: name} }
	got := map[string]backup.Action{}
	for _, s := range subjectsOf([]report.Consequence{
		{Object: named("at-once"), Change: report.ChangeDeleted, When: report.AtOnce},
		{Object: named("later"), Change: report.ChangeDeleted, When: report.FinalizerRemoved, Certainty: report.Possible},
		{Object: named("anyway"), Change: report.ChangeDeleted, Anyway: true},
		{Object: named("orphaned"), Change: report.ChangeEdited},
	}, []object.Ref{object.Ref(named("written"))}) {
		got[s.ref.Name] = s.action
	}
	want := map[string]backup.Action{
		"at-once": backup.Deleted, "later": backup.Deleted, "anyway": backup.Deleted, "orphaned": backup.Changed, "written": backup.Changed,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestExpectations: a run is compared with the consequences, and with the objects that the plan
// keeps.
func TestExpectations(t *testing.T) {
	objects, err := scenario.ParseWorld("v1 ConfigMap n/a\nv1 Secret n/goes owners=a\nrbac.authorization.k8s.io/v1 ClusterRole stays owners=a\nv1 Secret n/held uid=h owners=a fin=x/y", scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, e := range expectationsOf(result) {
		got[e.Object.Name] = e.kept
	}
	if diff := cmp.Diff(map[string]bool{"a": false, "goes": false, "held": false, "stays": true}, got); diff != "" {
		t.Error(diff)
	}
}
