package diagnose

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestScale: a custom resource is data if it owns storage or stands for some. Other custom resources
// count as rest.
func TestScale(t *testing.T) {
	objects, err := scenario.ParseWorld("v1 Secret n/key owners=above\nexample.com/v1 Widget n/above owners=top\nexample.com/v1 Gadget top\n"+
		"apps/v1 StatefulSet n/db owners=orders\nexample.com/v1 Widget n/orders\n"+
		"example.com/v1 Widget n/volume fin=longhorn.io\nexample.com/v1 Widget n/cloud fin=finalizer.managedresource.crossplane.io\n"+
		"example.com/v1 Widget n/setting fin=example.com/x\nexample.com/v1 Widget n/runs\nv1 Pod n/pod owners=runs\nv1 ConfigMap n/cm fin=longhorn.io", scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	collector, _ := plan.Open(snap, engine.Upstream)
	weights := newScale(snap, collector.Graph())
	one, other, none := report.Toll{Objects: 1, Data: 1}, report.Toll{Objects: 1, Workloads: 1}, report.Toll{Objects: 1, Rest: 1}
	want := map[string]report.Toll{
		"key": one, "above": one, "top": one, "db": other, "orders": one, "volume": one, "cloud": one,
		"setting": none, "runs": none, "pod": other, "cm": none,
	}
	for _, o := range snap.Objects {
		if got := weights.of(o.Ref); got != want[o.Name] {
			t.Errorf("%s: %+v, want %+v", o.Name, got, want[o.Name])
		}
	}
}
