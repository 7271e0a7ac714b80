package diagnose_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestGraphAmong: the graph of some objects has exactly these and their owners, as in the whole
// graph.
func TestGraphAmong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := drawSnapshot(t, scenario.Wild&^scenario.RepeatedUIDs)
		whole, err := diagnose.Graph(t.Context(), snap, diagnose.GraphOptions{})
		if err != nil {
			t.Fatal(err)
		}
		wanted := map[string]bool{}
		among := []object.Ref{}
		for _, n := range whole.Nodes {
			if rapid.Bool().Draw(t, "wanted") {
				among = append(among, n.Ref)
				wanted[string(n.Ref.UID)] = true
			}
		}
		for _, e := range whole.Edges {
			if slices.ContainsFunc(among, func(r object.Ref) bool { return r.UID == e.Dependent }) {
				wanted[string(e.Owner)] = true
			}
		}
		part, err := diagnose.Graph(t.Context(), snap, diagnose.GraphOptions{Among: among})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range part.Nodes {
			if !wanted[string(n.Ref.UID)] {
				t.Errorf("%v is neither wanted nor an owner", n.Ref)
			}
			delete(wanted, string(n.Ref.UID))
		}
		if len(wanted) > 0 {
			t.Errorf("left out: %v", wanted)
		}
		for _, e := range part.Edges {
			if !slices.ContainsFunc(whole.Edges, func(x report.Edge) bool { return x == e }) {
				t.Errorf("%v is not in the whole graph", e)
			}
		}
	})
}
