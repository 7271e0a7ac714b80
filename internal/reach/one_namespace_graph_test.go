package reach_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// asked has the directions that `graph` follows for each question about an object or its namespace.
var asked = map[string][]graph.Direction{
	"owners": {graph.ToOwners}, "dependents": {graph.ToDependents}, "both": {graph.ToOwners, graph.ToDependents}, "whole": {graph.Both},
	"namespace": nil,
}

// TestGraph: a graph of a sufficient part is that of the whole, without what is connected only over
// objects of other namespaces. If dependents were asked for, the part has one more gap: these
// objects were not looked for.
func TestGraph(t *testing.T) {
	enough, elsewhere := map[string]int{}, 0
	scenario.CheckUntil(t, func() bool { return len(enough) == len(asked) }, func(t *rapid.T) {
		d := drawPart(t, varieties(t))
		question := rapid.SampledFrom([]string{"owners", "dependents", "both", "whole", "namespace"}).Draw(t, "question")
		options := diagnose.GraphOptions{Roots: []object.Ref{d.target}, Directions: asked[question], Depth: rapid.IntRange(0, 2).Draw(t, "depth"), Deployed: true}
		if question == "namespace" {
			options = diagnose.GraphOptions{Namespace: "n"}
		}
		part, err := diagnose.Graph(t.Context(), d.part, options)
		in := reach.InNamespace(d.part, "n")
		if err != nil || in.WhyGraphDiffers(part, options.Directions) != "" {
			return
		}
		enough[question]++
		in.AdjustGaps(part, options.Directions)
		whole, err := diagnose.Graph(t.Context(), d.whole, options)
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
				// Objects reached only over these references are out of the graph, and so are the
				// gaps about them.
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

// withoutOthers removes what a graph shows only because of references from other namespaces to an
// object of this one. It reports whether there were any.
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

// walked returns the nodes reachable from the roots of a graph, with their depths; 0 means no
// limit.
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

// TestGraphOfPart checks, one by one, what makes a part sufficient or not for a graph of x: of its
// owners and of its dependents.
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
			g, err := diagnose.Graph(t.Context(), snap, diagnose.GraphOptions{Roots: []object.Ref{x.Ref}, Directions: asked[question]})
			if err != nil {
				t.Fatal(err)
			}
			says(t, question+" in "+world, reach.InNamespace(snap, "n").WhyGraphDiffers(g, asked[question]), want[i])
		}
	}
}
