package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// shop returns a namespace of n objects, and others in another one. It contains Deployments with
// ReplicaSets. With held, their pods have a finalizer, and with shared, a second owner.
func shop(b testing.TB, n, others int, held, shared bool) *snapshot.Snapshot {
	b.Helper()
	var w strings.Builder
	w.WriteString("v1 Namespace shop phase=Active spec=kubernetes\nv1 Node node\nv1 Namespace other phase=Active spec=kubernetes\nv1 ConfigMap shop/also\n")
	for i := range others {
		fmt.Fprintf(&w, "v1 ConfigMap other/x%d\n", i)
	}
	fmt.Fprintf(&w, "apps/v1 Deployment shop/web\n")
	for i := range n / 20 {
		fmt.Fprintf(&w, "apps/v1 ReplicaSet shop/r%d owners=web!^\n", i)
		for j := range 19 {
			fmt.Fprintf(&w, "v1 Pod shop/p%d-%d owners=r%d!^", i, j, i)
			if shared {
				w.WriteString(",also")
			}
			w.WriteString(" node=node phase=Running")
			if held && j == 0 {
				w.WriteString(" fin=example.com/hold")
			}
			w.WriteString("\n")
		}
	}
	objects, err := scenario.ParseWorld(w.String(), scenario.Names{})
	if err != nil {
		b.Fatal(err)
	}
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		b.Fatal(err)
	}
	return snap
}

var (
	web  = object.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	also = object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "also"}
)

// BenchmarkUsual measures the cost of a plan that is explored by default.
func BenchmarkUsual(b *testing.B) {
	for _, size := range []struct{ n, others int }{{20, 0}, {20, 100_000}, {200, 0}, {200, 10_000}, {1800, 0}, {1800, 20_000}, {1800, 100_000}} {
		for _, kind := range []struct {
			name         string
			held, shared bool
			policy       engine.Policy
			targets      []object.Ref
		}{
			{"plain", false, false, engine.Background, []object.Ref{web}},
			{"foreground-held", true, false, engine.ForegroundPolicy, []object.Ref{web}},
			{"namespace-shared", true, true, engine.Background, []object.Ref{{APIVersion: "v1", Kind: "Namespace", Name: "shop"}}},
			{"background-both", true, true, engine.Background, []object.Ref{web, also}},
			{"foreground-both", true, true, engine.ForegroundPolicy, []object.Ref{web, also}},
			{"orphan-both", true, true, engine.OrphanPolicy, []object.Ref{web, also}},
		} {
			var snap *snapshot.Snapshot
			for _, explore := range []int{0, plan.Usual} {
				b.Run(fmt.Sprintf("%s/of=%d/among=%d/explore=%d", kind.name, size.n, size.others, explore), func(b *testing.B) {
					if snap == nil {
						snap = shop(b, size.n, size.others, kind.held, kind.shared)
					}
					runs := 0
					for b.Loop() {
						result, err := plan.Simulate(b.Context(), snap, plan.DeleteSeed(kind.policy, kind.targets...), plan.Options{Record: plan.RecordRequests, Explore: explore})
						if err != nil {
							b.Fatal(err)
						}
						runs = result.Plan.Explored
					}
					b.ReportMetric(float64(runs), "runs")
				})
			}
		}
	}
}
