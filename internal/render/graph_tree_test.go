package render

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func treeText(t interface{ Fatal(...any) }, s Style, g *report.Graph, printed map[types.UID]object.Printed) string {
	var b strings.Builder
	if err := GraphTree(&b, s, Tree{Graph: g, Printed: printed}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTreeOfALongChain: the size of the output is linear in the length of a chain, and it stays
// within the width.
func TestTreeOfALongChain(t *testing.T) {
	const n = 20_000
	s := Style{Wide: true}
	out := treeText(t, s, chain(n), nil)
	assertPresentable(t, s, out)
	if got, most := len(out), n*160; got > most {
		t.Errorf("%d bytes for %d objects", got, n)
	}
	for _, i := range []int{0, 1, n / 2, n - 1} {
		name := fmt.Sprintf("configmap/c-%06d", i)
		if !strings.Contains(out, name) {
			t.Errorf("%s is not shown", name)
		}
	}
	if !strings.Contains(out, "(continued below)") || !strings.Contains(out, "(continued)") {
		t.Error("no word of where the chain goes on")
	}
}

// TestTreeShowsEachObjectInFullOnce: holds for any graph, with cycles, several owners and objects
// that own themselves.
func TestTreeShowsEachObjectInFullOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "objects")
		g := &report.Graph{Roots: []object.Ref{{UID: "none"}}}
		for i := range n {
			g.Nodes = append(g.Nodes, report.Node{Observed: true,
				Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprintf("<%d>", i), UID: types.UID(fmt.Sprint(i))}})
		}
		object := rapid.IntRange(0, n-1)
		for range rapid.IntRange(0, 3*n).Draw(rt, "references") {
			g.Edges = append(g.Edges, report.Edge{
				Dependent:  g.Nodes[object.Draw(rt, "dependent")].Ref.UID,
				Owner:      g.Nodes[object.Draw(rt, "owner")].Ref.UID,
				Controller: rapid.Bool().Draw(rt, "controller"),
				Class:      rapid.SampledFrom([]report.Class{report.Existing, report.Dangling, report.Waiting, report.UnknownClass}).Draw(rt, "class"),
			})
		}
		full := map[string]int{}
		for line := range strings.Lines(treeText(rt, Style{}, g, nil)) {
			if strings.Contains(line, "<") && !strings.Contains(line, "↺ ") {
				full[line[strings.Index(line, "<"):strings.Index(line, ">")+1]]++
			}
		}
		for i := range n {
			if name := fmt.Sprintf("<%d>", i); full[name] != 1 {
				rt.Errorf("%s is shown in full %d times", name, full[name])
			}
		}
	})
}
