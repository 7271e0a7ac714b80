package draw

import (
	"fmt"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// workloads returns a graph of deployments with a replica set and eight pods each.
func workloads(n int) *report.Graph {
	g := &report.Graph{}
	for i := range n {
		d := i - i%10
		r := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: fmt.Sprintf("team-%03d", i/200), Name: fmt.Sprintf("web-%05d-%02d", d, i%10), UID: types.UID(fmt.Sprintf("%08d", i))}
		e := report.Edge{Dependent: r.UID, Owner: types.UID(fmt.Sprintf("%08d", d+1)), Controller: true, BlockOwnerDeletion: true, Class: report.Existing}
		switch i % 10 {
		case 0:
			r.APIVersion, r.Kind = "apps/v1", "Deployment"
		case 1:
			r.APIVersion, r.Kind, e.Owner = "apps/v1", "ReplicaSet", types.UID(fmt.Sprintf("%08d", d))
		}
		g.Nodes = append(g.Nodes, report.Node{Ref: r, Observed: true})
		if i%10 > 0 {
			g.Edges = append(g.Edges, e)
		}
	}
	return g
}

// BenchmarkSVG builds and writes the scene of a graph without folding.
func BenchmarkSVG(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 50_000} {
		g := workloads(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := WriteSVG(io.Discard, OfGraph(g, Options{})); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
