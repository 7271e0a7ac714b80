package render

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestDeletesAreNotCut: a name or a condition in the list of deletes is shown whole or counted.
func TestDeletesAreNotCut(t *testing.T) {
	e := &report.Explanation{Object: object.Ref{APIVersion: "snapshot.storage.k8s.io/v1", Kind: "VolumeSnapshotContent", Name: "snapcontent-1"}}
	for _, name := range []string{"nightly-of-the-first-database", "nightly-of-the-second-database", "nightly-of-the-third-database"} {
		at := object.Ref{APIVersion: "snapshot.storage.k8s.io/v1", Kind: "VolumeSnapshot", Namespace: "shop", Name: name}
		e.TakenBy = append(e.TakenBy, report.Taker{Object: at, Policy: "Background", Later: true, Once: []report.Release{
			{Object: at, Finalizer: "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection", State: report.ControllerUnknown},
		}})
	}
	for _, width := range []int{80, 120} {
		lines := linesOf(Style{Width: width}, func(w *writer) { explainDeletes(w, e) })
		text := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
		if !strings.Contains(text, "deleted: volumesnapshot") || !strings.Contains(text, "nightly-of-the-first-database") || !strings.Contains(text, "is removed") ||
			!strings.HasSuffix(text, "more") || strings.Contains(text, "...") || strings.Contains(text, "…") {
			t.Errorf("width %d: %s", width, text)
		}
	}
}
