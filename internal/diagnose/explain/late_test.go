package explain_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestLate: explain says the same as a plan about an overdue deletion. It does not say that the
// object goes, nor that a third-party finalizer holds it.
func TestLate(t *testing.T) {
	const deleted, noon = 1777633200, 1777636800 // 2026-05-01T11:00:00Z and an hour later
	for body, want := range map[string]string{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop","name":"owner","uid":"u","deletionTimestamp":"2026-05-01T11:00:00Z","finalizers":["foregroundDeletion"]}}`:                      "CollectorNotWorking",
		`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"namespace":"shop","name":"data","uid":"u","deletionTimestamp":"2026-05-01T11:00:00Z","finalizers":["kubernetes.io/pvc-protection"]}}`: "ControllerNotWorking",
	} {
		snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(body), TreatMissingAsAbsent: true})
		if err != nil {
			t.Fatal(err)
		}
		for now, late := range map[int64]bool{deleted + 2: false, noon: true, 0: false} {
			x, err := explain.Object(t.Context(), snap, snap.Objects[0].Ref, explain.Options{Surroundings: evidence.New(snap, nil, now)})
			if err != nil {
				t.Fatal(err)
			}
			if got := x.Reason == want; got != late || late && x.Verdict == report.HeldByFinalizer {
				t.Errorf("%s at %d: %s %s %s", snap.Objects[0].Name, now, x.Verdict, x.Reason, x.Message)
			}
			if again := len(x.Remedies) > 0 && strings.Contains(x.Remedies[0].Command, "--cascade=background"); again != (late && want == "CollectorNotWorking") {
				t.Errorf("%s at %d: %+v", snap.Objects[0].Name, now, x.Remedies)
			}
		}
	}
}
