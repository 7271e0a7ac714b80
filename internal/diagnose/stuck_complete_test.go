package diagnose_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestStuckMoreChangesNothing: a complete answer from a part of a world says the same as that from the
// whole about the objects of the part.
func TestStuckMoreChangesNothing(t *testing.T) {
	complete, incomplete := 0, 0
	scenario.CheckUntil(t, func() bool { return complete > 0 && incomplete > 0 }, func(t *rapid.T) {
		whole, part := scenario.DrawBlind(t)
		if len(part.Gaps) == 0 {
			return
		}
		got := answered(t, part)
		if !got.Complete {
			incomplete++
			return
		}
		if len(got.Findings) == 0 {
			return
		}
		complete++
		if diff := cmp.Diff(chainsAbout(part, answered(t, whole)), chainsAbout(part, got)); diff != "" {
			t.Fatalf("(-whole +part):\n%s\ngaps %v in\n%s", diff, part.Gaps, scenario.World{Objects: whole.Objects})
		}
	})
	t.Logf("%d complete, %d incomplete", complete, incomplete)
}

func answered(t *rapid.T, snap *snapshot.Snapshot) *report.Diagnosis {
	d, err := diagnose.Stuck(t.Context(), snap, nil, diagnose.StuckQuestion{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// chainsAbout returns the findings about the objects of a snapshot.
func chainsAbout(snap *snapshot.Snapshot, d *report.Diagnosis) map[string][]string {
	list := map[string][]string{}
	for _, f := range d.Findings {
		if snap.Find(f.Object.APIVersion, f.Object.Kind, f.Object.Namespace, f.Object.Name) != nil {
			key := f.Object.FullName()
			list[key] = append(list[key], f.Code+" "+f.Finalizer)
		}
	}
	return list
}
