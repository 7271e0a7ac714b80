package risk

import (
	"math"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestFolded: a ranking among those that stand for others is that of all, number by number.
func TestFolded(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		world := scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawCopies(t)
		snap := world.DrawSnapshot(t, 6)
		options := Options{Top: rapid.IntRange(1, 12).Draw(t, "top")}
		want, err := rank(t.Context(), snap, options, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rank(t.Context(), snap, options, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("-all +those that stand for others:\n%s\nin\n%s", diff, scenario.World{Objects: snap.Objects})
		}
		for _, item := range got.Items {
			if o := snap.Find(item.Object.APIVersion, item.Object.Kind, item.Object.Namespace, item.Object.Name); takesMany(t, snap, o) {
				taken++
			}
		}
	})
	t.Logf("%d took one that stood for others", taken)
	if taken == 0 {
		t.Error("nothing ever stood for others")
	}
}

// takesMany reports whether the part of a delete has something that may go and stands for others.
// Such a part stands for all that is in the part of the whole snapshot.
func takesMany(t *rapid.T, snap *snapshot.Snapshot, o *object.Object) bool {
	reach := impact.New(snap, plan.Start(snap, engine.Upstream).Graph())
	at := reach.Positions()
	f := fold(snap, at)
	if f == nil {
		return false
	}
	p := f.part(at.Of(o), o)
	if p == nil {
		return false
	}
	if all := reach.Part(o); p.size != len(all.Objects) {
		t.Fatalf("the part of %s stands for %d objects, want %d", o.Ref, p.size, len(all.Objects))
	}
	return f.reach.Region(o).Any(func(x *object.Object) bool { return f.times[x] > 1 })
}
