package diagnose_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestExplainMoreChangesNothing: a complete explanation in a part of a world equals that in the whole. It is
// complete although much was not seen, and the other way around.
func TestExplainMoreChangesNothing(t *testing.T) {
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
		if diff := cmp.Diff(answerOf(want), answerOf(got)); diff != "" {
			t.Fatalf("%s (-whole +part):\n%s\nin\n%s", o.Ref, diff, scenario.World{Objects: whole.Objects})
		}
	})
}

// answerOf returns the parts of an explanation that must not change if it is complete. The evidence about
// an owner may become more detailed.
func answerOf(e *report.Explanation) any {
	owners := slices.Clone(e.Owners)
	for i := range owners {
		owners[i].Evidence = ""
	}
	if e.Verdict != report.Live && e.Verdict != report.Garbage {
		return []any{e.Verdict, e.Reason, e.Message, e.TakenBy} // the verdict does not depend on its owners
	}
	return []any{e.Verdict, e.Reason, e.Message, e.Next, owners, e.Chain, e.TakenBy}
}

// TestGoesWithNamespace: the owner of an object that is deleted with its namespace is not garbage.
// The object waits for the pods of the namespace: if these were not seen, its outcome is unknown.
func TestGoesWithNamespace(t *testing.T) {
	const world = "v1 ConfigMap n/c\nv1 Namespace n deleting phase=Terminating spec=[kubernetes]\n"
	for name, test := range map[string]struct {
		world, verdict string
		seen, complete bool
	}{
		"no pods":           {world, "Garbage DeletedByController", true, true},
		"pods not seen":     {world, "Garbage DeletedByController", false, false},
		"a pod that stays":  {world + "v1 Pod n/p fin=x.io/y node=n1 phase=Running", "Live NoOwners", true, true},
		"garbage by itself": {"v1 ConfigMap n/c owners=v1:ConfigMap:ghost:ghost\n" + world[len("v1 ConfigMap n/c\n"):], "Garbage NoExistingOwner", false, true},
	} {
		objects, err := scenario.ParseWorld(test.world, scenario.Names{})
		if err != nil {
			t.Fatal(err)
		}
		coverage := &snapshot.Coverage{}
		for _, r := range scenario.Resources().All() {
			if test.seen || r.Name != "pods" {
				coverage.Add(r.GroupResource(), "")
			}
		}
		snap, err := snapshot.New(objects, scenario.Resources(), coverage, snapshot.Source{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := diagnose.Explain(t.Context(), snap, objects[0].Ref, diagnose.ExplanationOptions{})
		if got := string(e.Verdict) + " " + e.Reason; err != nil || got != test.verdict || e.Complete != test.complete {
			t.Errorf("%s: %s, complete %v, %v", name, got, e.Complete, err)
		}
	}
}

// TestGraphOfNothing: the graph of an empty namespace is complete only if nothing of it was left
// unread.
func TestGraphOfNothing(t *testing.T) {
	for gap, complete := range map[string]bool{"": true, "n": false, "m": true} {
		coverage := &snapshot.Coverage{}
		for _, r := range scenario.Resources().All() {
			if gap == "" || !r.Is(object.ConfigMap) {
				coverage.Add(r.GroupResource(), "")
			}
		}
		if gap != "" {
			coverage.Fail(object.ConfigMap.GroupResource(), gap, reason.Forbidden, "no")
		}
		snap, err := snapshot.New(nil, scenario.Resources(), coverage, snapshot.Source{})
		if err != nil {
			t.Fatal(err)
		}
		g, err := diagnose.Graph(t.Context(), snap, diagnose.GraphOptions{Namespace: "n"})
		if err != nil || g.Complete != complete {
			t.Errorf("with a gap in %q: complete is %v, %v", gap, g.Complete, err)
		}
	}
}
