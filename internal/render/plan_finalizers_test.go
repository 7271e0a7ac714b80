package render

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestFinalizerWithoutLoss: a sentence is not left without its end if nothing is lost, such as for a released
// volume that is retained.
func TestFinalizerWithoutLoss(t *testing.T) {
	f := report.PlannedFinalizer{Name: "kubernetes.io/pv-protection", RemovedBy: "the PV protection controller", When: "when the volume is not bound"}
	if text := finalizerPurpose(Style{}, f); !strings.HasSuffix(text, "Without it: nothing is lost") {
		t.Error(text)
	}
}
