package impact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// asked are the questions that `graph` asks about an object, and about what is in its
// namespace.
var asked = map[string][]graph.Direction{
	"owners": {graph.ToOwners}, "dependents": {graph.ToDependents}, "both": {graph.ToOwners, graph.ToDependents}, "whole": {graph.Both},
	"namespace": nil,
}

// TestGraph: a graph of a part that is said to be enough is the one of the whole, but for
// what hangs on objects of other namespaces alone. Where dependents were asked for, that
// these were not looked for is the only gap that the whole does not have.
func TestGraph(t *testing.T) {
	enough, elsewhere := map[string]int{}, 0
	scenario.CheckUntil(t, func() bool { return len(enough) == len(asked) }, func(t *rapid.T) {
		d := drawPart(t, varieties(t))
		question := rapid.SampledFrom([]string{"owners", "dependents", "both", "whole", "namespace"}).Draw(t, "question")
		options := explain.GraphOptions{Roots: []object.Ref{d.target}, Directions: asked[question], Depth: rapid.IntRange(0, 2).Draw(t, "depth")}
		if question == "namespace" {
			options = explain.GraphOptions{Namespace: "n"}
		}
		part, err := explain.Graph(t.Context(), d.part, options)
		in := impact.InNamespace(d.part, "n")
		if err != nil || in.Graph(part, options.Directions) != "" {
			return
		}
		enough[question]++
		in.Enough(part, options.Directions)
		whole, err := explain.Graph(t.Context(), d.whole, options)
		if err != nil {
			t.Fatal(err)
		}
		if question != "owners" && question != "namespace" {
			if len(part.Gaps) == 0 || !strings.HasPrefix(part.Gaps[0].Why, "LeftOut: references from other namespaces") || part.Gaps[0].Matters {
				t.Fatalf("that references from elsewhere were not looked for is not said: %+v", part.Gaps)
			}
			part.Gaps = part.Gaps[1:]
			if withoutOthers(whole, options.Directions, options.Depth) {
				elsewhere++
				// What they led to is out of the graph, and what was not seen there does not matter.
				for _, g := range part.Gaps {
					if !slices.Contains(whole.Gaps, g) {
						t.Fatalf("only the part has the gap %+v", g)
					}
				}
				whole.Gaps, whole.Complete = part.Gaps, part.Complete || whole.Complete
			}
		}
		if diff := cmp.Diff(whole, part); diff != "" {
			t.Fatalf("%s of %s (-whole +part):\n%s\nin\n%s", question, d.target, diff, scenario.World{Objects: d.whole.Objects})
		}
	})
	t.Logf("enough for %v, in %d worlds with references from elsewhere", enough, elsewhere)
}

// withoutOthers takes out of a graph what it shows only because of references from other
// namespaces to an object of this one, and reports whether there were any.
func withoutOthers(g *report.Graph, directions []graph.Direction, depth int) bool {
	in := map[types.UID]string{}
	for i := range g.Nodes {
		in[g.Nodes[i].Ref.UID] = g.Nodes[i].Ref.Namespace
	}
	edges := len(g.Edges)
	g.Edges = slices.DeleteFunc(g.Edges, func(e report.Edge) bool {
		return in[e.Owner] == "n" && in[e.Dependent] != "n" && in[e.Dependent] != ""
	})
	if len(g.Edges) == edges {
		return false
	}
	met := map[types.UID]bool{}
	for _, direction := range directions {
		for uid := range walked(g, direction, depth) {
			met[uid] = true
		}
	}
	left := func(uid types.UID) bool { return !met[uid] }
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n report.Node) bool { return left(n.Ref.UID) })
	g.Edges = slices.DeleteFunc(g.Edges, func(e report.Edge) bool { return left(e.Owner) || left(e.Dependent) })
	return true
}

// walked are the nodes that one comes to from the roots of a graph, with their depths; 0 for no bound.
func walked(g *report.Graph, direction graph.Direction, depth int) map[types.UID]int {
	next := map[types.UID][]types.UID{}
	for _, e := range g.Edges {
		if direction != graph.ToDependents {
			next[e.Dependent] = append(next[e.Dependent], e.Owner)
		}
		if direction != graph.ToOwners {
			next[e.Owner] = append(next[e.Owner], e.Dependent)
		}
	}
	met := map[types.UID]int{}
	var open []types.UID
	for _, root := range g.Roots {
		met[root.UID], open = 0, append(open, root.UID)
	}
	for i := 0; i < len(open); i++ {
		for _, uid := range next[open[i]] {
			if _, ok := met[uid]; !ok && (depth == 0 || met[open[i]] < depth) {
				met[uid], open = met[open[i]]+1, append(open, uid)
			}
		}
	}
	return met
}

// TestGraphOfPart: what makes a part enough for a graph of x, or not, one by one: for its
// owners and for its dependents.
func TestGraphOfPart(t *testing.T) {
	for world, want := range map[string][2]string{
		"v1 ConfigMap n/x": {},
		"v1 ConfigMap n/x owners=o\nv1 ConfigMap n/o\nv1 ConfigMap n/d owners=x":                                                  {},
		"v1 ConfigMap n/x owners=node\nv1 Node node":                                                                              {},
		"v1 ConfigMap n/x owners=v1:ConfigMap:gone:gone":                                                                          {"was not seen", ""},
		"v1 ConfigMap n/x\nv1 ConfigMap n/d owners=x,v1:ConfigMap:gone:gone":                                                      {},
		"v1 ConfigMap n/x\nv1 Node node owners=x":                                                                                 {"", "may have dependents in every namespace"},
		"v1 ConfigMap n/x owners=v1:ConfigMap:other:o\nv1 ConfigMap n/o":                                                          {},
		"rbac.authorization.k8s.io/v1 ClusterRole r\nv1 ConfigMap n/x owners=r\nv1 ConfigMap n/d owners=r":                        {},
		"v1 ConfigMap n/x\nv1 ConfigMap n/lost owners=v1:ConfigMap:gone:gone":                                                     {},
		"v1 ConfigMap n/x deleting fin=foregroundDeletion\nv1 ConfigMap n/d owners=x\nv1 ConfigMap n/w deleting fin=example.io/a": {},
	} {
		objects, err := scenario.ParseWorld(world, scenario.Names{})
		if err != nil {
			t.Fatal(err)
		}
		snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
		if err != nil {
			t.Fatal(err)
		}
		x := snap.FindKind(object.ConfigMap, "n", "x")
		for i, question := range []string{"owners", "dependents"} {
			g, err := explain.Graph(t.Context(), snap, explain.GraphOptions{Roots: []object.Ref{x.Ref}, Directions: asked[question]})
			if err != nil {
				t.Fatal(err)
			}
			says(t, question+" in "+world, impact.InNamespace(snap, "n").Graph(g, asked[question]), want[i])
		}
	}
}
