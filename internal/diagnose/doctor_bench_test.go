package diagnose_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// BenchmarkExamine100000 examines a cluster of owners with nine dependents each, with a graph that
// agrees.
func BenchmarkExamine100000(b *testing.B) {
	var objects []*object.Object
	g := &report.Graph{}
	for i := range 100_000 {
		x := thing{name: fmt.Sprintf("object-%06d", i), created: old}
		if owner := i - i%10; owner != i {
			x.owners = []string{fmt.Sprintf("object-%06d", owner)}
		}
		o := x.object()
		objects = append(objects, o)
		g.Nodes = append(g.Nodes, report.Node{Ref: o.Ref, Observed: true})
		for _, ref := range o.Owners {
			g.Edges = append(g.Edges, report.Edge{Dependent: o.UID, Owner: ref.UID})
		}
	}
	s, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{Discovered: true})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c, err := diagnose.Examine(b.Context(), s, diagnose.CheckupOptions{At: now, Patience: patience, Graph: &diagnose.CollectorGraph{Read: []*report.Graph{g, g}, Live: true}})
		if err != nil || c.Verdict != report.CollectorWorking {
			b.Fatal(c, err)
		}
	}
}
