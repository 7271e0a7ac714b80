package explain_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// drawBlind draws a world, and the same world without some of its kinds.
func drawBlind(t *rapid.T) (whole, part *snapshot.Snapshot) {
	w := scenario.DrawCluster(t, scenario.DrawVariety(t)&^scenario.RepeatedUIDs)
	everything, some := &snapshot.Coverage{}, &snapshot.Coverage{}
	refused := map[string]bool{}
	for _, r := range scenario.Resources().All() {
		gr := r.GroupResource()
		everything.Add(gr, "")
		if rapid.IntRange(0, 5).Draw(t, "refused") == 5 {
			refused[gr.String()] = true
			some.Fail(gr, "", reason.Forbidden, "")
			continue
		}
		some.Add(gr, "")
	}
	var seen, all []*object.Object
	for _, o := range w.Objects {
		all = append(all, o.Clone())
		if r, err := scenario.Resources().For(o.APIVersion, o.Kind); err != nil || !refused[r.GroupResource().String()] {
			seen = append(seen, o.Clone())
		}
	}
	return scenario.World{Objects: all}.Snapshot(t, everything), scenario.World{Objects: seen}.Snapshot(t, some)
}

// TestMoreChangesNothing: a complete explanation of a part of a world says of the object
// what that of the whole says. It is complete although much was not seen, and the
// other way around.
func TestMoreChangesNothing(t *testing.T) {
	complete, incomplete := 0, 0
	scenario.CheckUntil(t, func() bool { return complete > 0 && incomplete > 0 }, func(t *rapid.T) {
		whole, part := drawBlind(t)
		if len(part.Objects) == 0 || len(part.Gaps) == 0 {
			return
		}
		o := rapid.SampledFrom(part.Objects).Draw(t, "object")
		got := explained(t, part, o.Ref)
		if got.Verdict != report.Live && got.Verdict != report.Garbage || len(got.Gaps) == 0 {
			return // gaps elsewhere are not asked about
		}
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
	return []any{e.Verdict, e.Reason, e.Message, e.Next, owners, e.Chain, e.TakenBy}
}
