package check_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/check"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestFindingsOfDrawnWorlds: codes are documented and have their severity, counts are right, and the
// same input gives the same bytes. If nothing is covered, nothing is called absent.
func TestFindingsOfDrawnWorlds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild)
		coverage := &snapshot.Coverage{}
		whole := rapid.Bool().Draw(t, "whole")
		if whole {
			coverage = snapshot.CoversEverything()
		}
		snap := w.Snapshot(t, coverage)
		d, err := check.References(t.Context(), snap, "")
		if err != nil {
			t.Fatal(err)
		}
		counts := map[reason.Severity]int{}
		for _, f := range d.Findings {
			counts[f.Severity]++
			if m := reason.Check.Of(reason.Code(f.Code)); m == nil || m.Severity != f.Severity || f.Message == "" {
				t.Fatalf("code %q, severity %q, message %q", f.Code, f.Severity, f.Message)
			}
			if absent := []string{string(reason.OwnerNotFound)}; !whole && slices.Contains(absent, f.Code) {
				t.Fatalf("nothing is covered, and yet: %+v", f)
			}
		}
		if counts[reason.Error] != d.Summary.Errors || counts[reason.Warning] != d.Summary.Warnings || counts[reason.Info] != d.Summary.Infos {
			t.Fatalf("counts %v, summary %+v", counts, d.Summary)
		}
		again, err := check.References(t.Context(), snap, "")
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(d)
		b, _ := json.Marshal(again)
		if !bytes.Equal(a, b) {
			t.Fatalf("two diagnoses differ:\n%s\n%s", a, b)
		}
	})
}
