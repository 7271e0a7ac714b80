package diagnose_test

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

func draw(t *rapid.T) *snapshot.Snapshot {
	return scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 6)
}

// tolls returns what the plans of all single deletes take, the greatest first, without those that
// take only their target.
func tolls(t *rapid.T, snap *snapshot.Snapshot, namespace string) []report.RiskItem {
	items, precious := []report.RiskItem{}, hold(snap)
	for _, o := range snap.Objects {
		if namespace != "" && o.Namespace != namespace && (o.Kind != "Namespace" || o.Name != namespace) {
			continue
		}
		result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, o.Ref), plan.Options{Record: plan.RecordRequests})
		if err != nil {
			t.Fatal(err)
		}
		item, others := report.RiskItem{Object: o.Ref}, 0
		for _, e := range result.Plan.Effects {
			held := e.Later == report.Deleted || e.Later == report.Blocked || e.Outcome == report.Blocked && e.Later != ""
			// An object that is certainly changed and may be deleted later counts as deleted.
			held = held || e.Later == report.Unknown && (e.Outcome == report.Pruned || e.Outcome == report.Orphaned)
			anyway := e.AlreadyHappening || e.Consequence != nil && e.Consequence.Anyway && e.Object != o.Ref
			if e.Outcome != report.Deleted && !held || anyway {
				continue
			}
			if e.Outcome != report.Deleted {
				item.Later++
			}
			item.Takes.Objects++
			switch e.Object.Kind {
			case "Secret", "PersistentVolumeClaim", "PersistentVolume", "VolumeSnapshot", "VolumeSnapshotContent":
				item.Takes.Data++
			case "Widget", "Gadget":
				if precious[e.Object] {
					item.Takes.Data++
				} else {
					item.Takes.Rest++
				}
			case "Pod", "ReplicaSet":
				item.Takes.Workloads++
			default:
				item.Takes.Rest++
			}
			if e.Object != item.Object {
				others++
			}
		}
		if others > 0 {
			items = append(items, item)
		}
	}
	slices.SortFunc(items, func(a, b report.RiskItem) int {
		return cmp.Or(cmp.Compare(b.Takes.Data, a.Takes.Data), cmp.Compare(b.Takes.Workloads, a.Takes.Workloads),
			cmp.Compare(b.Takes.Rest, a.Takes.Rest), object.Compare(a.Object, b.Object))
	})
	return items
}

// hold returns the objects above storage.
func hold(snap *snapshot.Snapshot) map[object.Ref]bool {
	held := map[object.Ref]bool{}
	above := map[types.UID]bool{}
	for grown := true; grown; {
		grown = false
		for _, o := range snap.Objects {
			if o.Kind == "Event" || !above[o.UID] && !slices.Contains([]string{"Secret", "PersistentVolumeClaim", "PersistentVolume", "StatefulSet"}, o.Kind) {
				continue
			}
			for _, ref := range o.Owners {
				grown = grown || !above[ref.UID]
				above[ref.UID] = true
			}
		}
	}
	for _, o := range snap.Objects {
		if above[o.UID] {
			held[o.Ref] = true
		}
	}
	return held
}

// TestRank: the ranking is that of the plans of all single deletes, number by number.
func TestRank(t *testing.T) {
	ranked, later := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		snap := draw(t)
		top := rapid.IntRange(1, 8).Draw(t, "top")
		namespace := rapid.SampledFrom([]string{"", "", "n"}).Draw(t, "namespace")
		r, err := diagnose.Rank(t.Context(), snap, diagnose.RiskOptions{Top: top, Namespace: namespace})
		if err != nil {
			t.Fatal(err)
		}
		if r.Untried > 0 {
			t.Fatalf("%d were not tried", r.Untried)
		}
		want := tolls(t, snap, namespace)
		want = want[:min(top, len(want))]
		got := []report.RiskItem{}
		for _, item := range r.Items {
			sum := 0
			for _, k := range item.ByKind {
				sum += k.Count
			}
			if sum != item.Takes.Objects || item.Takes.Data+item.Takes.Workloads+item.Takes.Rest != sum {
				t.Fatalf("the counts do not add up: %+v", item)
			}
			later += item.Later
			got = append(got, report.RiskItem{Object: item.Object, Takes: item.Takes, Later: item.Later})
		}
		ranked += len(got)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("top %d of %q (-plans +ranking):\n%s\nin\n%s", top, namespace, diff, scenario.World{Objects: snap.Objects})
		}
	})
	if ranked == 0 || later == 0 {
		t.Errorf("%d were ever ranked, %d of them with finalizers", ranked, later)
	}
}
