package docs

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/check"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/risk"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/stuck"
	"github.com/kubectl-gc/kubectl-gc/internal/doctor"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestDocumentsOfDrawnWorlds: whatever is in a cluster, and whatever of it was seen,
// documents are valid.
func TestDocumentsOfDrawnWorlds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawWorld(t, scenario.Wild).DrawSnapshot(t, 2)
		if len(snap.Objects) == 0 {
			return // there is nothing to ask about
		}
		target := rapid.SampledFrom(snap.Objects).Draw(t, "target").Ref
		policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
		document := func(document runtime.Object, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(document)
			if err != nil {
				t.Fatal(err)
			}
			valid(t, strict, raw)
		}
		for _, seed := range []plan.Seed{plan.DeleteSeed(policy, target), plan.CollectSeed()} {
			r, err := plan.Simulate(t.Context(), snap, seed, plan.Options{Explore: 1, Reads: true})
			if err != nil {
				t.Fatal(err)
			}
			document(r.Plan, nil)
		}
		document(explain.Object(t.Context(), snap, target, explain.Options{}))
		document(explain.Graph(t.Context(), snap, explain.GraphOptions{}))
		document(check.References(t.Context(), snap, ""))
		document(stuck.Objects(t.Context(), snap, &evidence.World{}, stuck.Question{}))
		document(doctor.Examine(t.Context(), snap, doctor.Options{}))
		document(risk.Rank(t.Context(), snap, risk.Options{Top: 3}))
	})
}

// TestRunAndUndo: the documents of what was written, which no dump answers with.
func TestRunAndUndo(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	ref := report.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "a", UID: "u"}
	seed := report.Seed{Verb: "delete", Policy: "Background", Targets: []report.Ref{ref}}
	source := report.Source{Type: "cluster", Context: "c", Server: "https://c"}
	documents := []runtime.Object{}
	for _, state := range report.WriteStates() {
		documents = append(documents, &report.Run{
			APIVersion: report.APIVersion, Kind: "Run", Source: source, Seed: seed, Digest: digest, Bundle: "b", State: report.Partial, Message: "m",
			Writes:      []report.RunWrite{{Object: ref, Verb: "DELETE", State: state, Message: "m"}},
			Surprises:   []report.Surprise{{Object: ref, Verb: "DELETE", Message: "m"}},
			Pending:     []report.Pending{{Object: ref, Finalizers: []string{"f"}, Dependents: []report.Ref{ref}}},
			Differences: []report.Difference{{Object: ref, Predicted: report.Deleted, Reason: report.Survived, Message: "m"}},
		})
	}
	for _, state := range []report.StepState{
		report.StepPlanned, report.StepMade, report.StepRestored, report.StepDiffers, report.StepTaken, report.StepRefused, report.StepContended, report.StepUnknown, report.StepSuperseded, report.StepNotDone,
	} {
		documents = append(documents, &report.Undo{
			APIVersion: report.APIVersion, Kind: "Undo", Source: source, Bundle: "b", Journal: "j", SameCluster: report.ProofClusterUID, Digest: digest, State: report.Complete, Message: "m",
			Steps:   []report.UndoStep{{N: 1, Verb: "Create", Object: ref, UID: "v", References: []report.Ref{ref}, Stripped: []string{"s"}, State: state, Message: "m"}},
			Skipped: []report.UndoSkip{},
		})
	}
	for _, document := range documents {
		raw, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		valid(t, strict, raw)
	}
}
