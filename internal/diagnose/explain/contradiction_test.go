package explain_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// contradicts reports whether an explanation says both that an object stays and that the collector
// deletes it next.
func contradicts(e *report.Explanation) bool {
	return strings.HasPrefix(e.Next, "DELETE") && (e.Verdict == report.Live || e.Message == "nothing takes it")
}

// TestRefusedGarbage: an object that the collector tries to delete forever is garbage, and the
// explanation names what refuses. The API server keeps its own priority classes. (S047)
func TestRefusedGarbage(t *testing.T) {
	const class = `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"system-node-critical","uid":"u",
		"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"gone","uid":"g"}]}}`
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(class), TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	e, err := explain.Object(t.Context(), snap, snap.Objects[0].Ref, explain.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if contradicts(e) || e.Verdict != report.Garbage || e.Reason != "RequestRefused" {
		t.Errorf("%s, %s: %s; next %s", e.Verdict, e.Reason, e.Message, e.Next)
	}
}

// TestNoContradiction: no explanation says that an object stays and also shows a request that deletes
// it.
func TestNoContradiction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 6)
		o := rapid.SampledFrom(snap.Objects).Draw(t, "object")
		if e := explained(t, snap, o.Ref); contradicts(e) {
			t.Fatalf("%s is %s: %s; next %s", o.Ref, e.Verdict, e.Message, e.Next)
		}
	})
}
