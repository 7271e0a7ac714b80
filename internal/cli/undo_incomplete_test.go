package cli

import (
	"context"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestIncompleteUndoIsNoSuccess: an undo that is known to be incomplete doesn't exit with 0.
func TestIncompleteUndoIsNoSuccess(t *testing.T) {
	for name, x := range map[string]struct {
		ended report.Undo
		code  int
	}{
		"complete":  {report.Undo{State: report.Complete}, exit.OK},
		"forgotten": {report.Undo{State: report.Complete, Summary: report.UndoSummary{Forgotten: 1}}, exit.Partial},
		"cut off":   {report.Undo{State: report.Complete, CutOff: []report.Ref{{APIVersion: "v1", Kind: "Namespace", Name: "shop"}}}, exit.Partial},
	} {
		code := exit.OK
		if err := (&undoing{}).verdict(&x.ended); err != nil {
			code = exit.CodeOf(context.Background(), err)
		}
		if code != x.code {
			t.Errorf("%s: exit code %d, want %d", name, code, x.code)
		}
	}
}
