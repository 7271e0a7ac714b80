package diagnose_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
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
		d, err := diagnose.Check(t.Context(), snap, "", nil)
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
		again, err := diagnose.Check(t.Context(), snap, "", nil)
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

// TestCheckMoreChangesNothing: a complete check of a part of a world has the findings of the whole for the
// objects in it. The whole may add which other object has the uid of an absent owner, and whether an
// owner in another namespace is in a cycle.
func TestCheckMoreChangesNothing(t *testing.T) {
	complete, incomplete := 0, 0
	scenario.CheckUntil(t, func() bool { return complete > 0 && incomplete > 0 }, func(t *rapid.T) {
		whole, part := scenario.DrawBlind(t)
		if len(part.Gaps) == 0 || scenario.Crossed(whole) {
			return
		}
		got := checked(t, part)
		if !got.Complete {
			incomplete++
			return
		}
		complete++
		if diff := cmp.Diff(about(part, checked(t, whole)), about(part, got)); diff != "" {
			t.Fatalf("(-whole +part):\n%s\ngaps %v in\n%s", diff, part.Gaps, scenario.World{Objects: whole.Objects})
		}
	})
	t.Logf("%d complete, %d incomplete", complete, incomplete)
}

func checked(t *rapid.T, snap *snapshot.Snapshot) *report.Diagnosis {
	d, err := diagnose.Check(t.Context(), snap, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// about returns the findings about objects of a snapshot.
func about(snap *snapshot.Snapshot, d *report.Diagnosis) []string {
	elsewhere := []reason.Code{reason.OwnerKindMismatch, reason.OwnerNameMismatch, reason.OwnerNamespaceMismatch, reason.OwnerUIDMismatch}
	var list []string
	for _, f := range d.Findings {
		if snap.Find(f.Object.APIVersion, f.Object.Kind, f.Object.Namespace, f.Object.Name) == nil {
			continue
		}
		if slices.Contains(elsewhere, reason.Code(f.Code)) {
			f.Code, f.Message = string(reason.OwnerNotFound), ""
		}
		text := f.Code + " " + f.Object.FullName()
		if f.Reference != nil {
			text += " " + f.Reference.FullName() + " " + string(f.Reference.UID)
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}
