package render

import (
	"fmt"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func bigPlan(n int) *report.Plan {
	p := &report.Plan{Seed: report.Seed{Verb: "delete", Policy: "Background", Targets: []object.Ref{
		{APIVersion: "v1", Kind: "Namespace", Name: "big", UID: "ns"}}}}
	for i := range n {
		r := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "big", Name: fmt.Sprintf("web-7f5d8c9b6d-%05d", i), UID: types.UID(fmt.Sprint(i))}
		p.Effects = append(p.Effects, report.Effect{Object: r, Outcome: report.Deleted, Reason: "NoExistingOwner", Message: "its owner goes"})
		p.Steps = append(p.Steps, report.Step{N: i + 1, Actor: "collector", Verb: "DELETE", Object: r, Policy: "Background", Reason: "NoExistingOwner", Cause: i})
	}
	return p
}

// chain returns objects that each own the next one.
func chain(n int) *report.Graph {
	g := &report.Graph{}
	for i := range n {
		g.Nodes = append(g.Nodes, report.Node{Observed: true, Ref: object.Ref{
			APIVersion: "v1", Kind: "ConfigMap", Namespace: "deep", Name: fmt.Sprintf("c-%06d", i), UID: types.UID(fmt.Sprintf("%06d", i))}})
		if i > 0 {
			g.Edges = append(g.Edges, report.Edge{Dependent: g.Nodes[i].Ref.UID, Owner: g.Nodes[i-1].Ref.UID, Class: report.Existing})
		}
	}
	return g
}

func benchmark[T any](b *testing.B, s Style, doc T, render func(io.Writer, Style, T) error) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if err := render(io.Discard, s, doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPlanTable50000(b *testing.B) {
	benchmark(b, Style{Width: 80}, bigPlan(50_000), PlanTable)
}

func BenchmarkPlanSteps50000(b *testing.B) { benchmark(b, Style{}, bigPlan(50_000), PlanSteps) }

func BenchmarkTreeDeep100000(b *testing.B) {
	benchmark(b, Style{Width: 80}, Tree{Graph: chain(100_000)}, GraphTree)
}

func BenchmarkDOT100000(b *testing.B) { benchmark(b, Style{}, chain(100_000), GraphDOT) }

func BenchmarkUpstream100000(b *testing.B) { benchmark(b, Style{}, chain(100_000), UpstreamDOT) }
