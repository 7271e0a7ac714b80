package explain_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestMoreChangesNothing: a complete explanation of a part of a world says of the object
// what that of the whole says. It is complete although much was not seen, and the
// other way around.
func TestMoreChangesNothing(t *testing.T) {
	complete, incomplete := 0, 0
	scenario.CheckUntil(t, func() bool { return complete > 0 && incomplete > 0 }, func(t *rapid.T) {
		whole, part := scenario.DrawBlind(t)
		if len(part.Objects) == 0 || len(part.Gaps) == 0 {
			return
		}
		o := rapid.SampledFrom(part.Objects).Draw(t, "object")
		got := explained(t, part, o.Ref)
		if !got.Complete {
			incomplete++
			return
		}
		complete++
		want := explained(t, whole, o.Ref)
		if diff := cmp.Diff(said(want), said(got)); diff != "" {
			t.Fatalf("%s (-whole +part):\n%s\nin\n%s", o.Ref, diff, scenario.World{Objects: whole.Objects})
		}
	})
}

// said is what a complete explanation stands for. To the evidence about an owner there may be
// more to say.
func said(e *report.Explanation) any {
	owners := slices.Clone(e.Owners)
	for i := range owners {
		owners[i].Evidence = ""
	}
	if e.Verdict != report.Live && e.Verdict != report.Garbage {
		return []any{e.Verdict, e.Reason, e.Message, e.TakenBy} // its owners decide nothing
	}
	return []any{e.Verdict, e.Reason, e.Message, e.Next, owners, e.Chain, e.TakenBy}
}
