package diagnose_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestWithoutVersion: the references of a snapshot without a version are judged like those of a
// cluster that has stopped to serve it.
func TestWithoutVersion(t *testing.T) {
	broken := 0
	scenario.CheckUntil(t, func() bool { return broken > 0 }, func(t *rapid.T) {
		world := scenario.DrawWorld(t, scenario.DrawVariety(t))
		served := scenario.Resources()
		r := rapid.SampledFrom(served.All()).Draw(t, "version")
		left := &object.Resources{}
		for _, other := range served.All() {
			if other.GroupResource() != r.GroupResource() || other.Version != r.Version {
				left.Add(other)
			}
		}
		stays, ok := left.Preferred(r.GroupResource())
		if !ok {
			return // a kind without any version has no objects that a cluster could show
		}
		var objects []*object.Object
		for _, o := range world.Objects {
			o = o.Clone()
			if o.Kind == r.Kind && o.APIVersion == r.APIVersion() {
				o.APIVersion = stays.APIVersion()
			}
			objects = append(objects, o)
		}
		of := func(objects []*object.Object, resources *object.Resources) *snapshot.Snapshot {
			snap, err := snapshot.New(objects, resources, snapshot.CoversEverything(), snapshot.Source{Discovered: true})
			if err != nil {
				t.Fatal(err)
			}
			return snap
		}
		judged := func(snap *snapshot.Snapshot) []report.Finding {
			d, err := diagnose.Check(t.Context(), snap, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			return d.Findings
		}
		want := judged(of(objects, left))
		without, err := of(world.Objects, served).WithoutVersion(r)
		if err != nil {
			t.Fatal(err)
		}
		got := judged(without)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("without %s (-not served +as if):\n%s\nin\n%s", r.APIVersion(), diff, scenario.World{Objects: objects})
		}
		for _, f := range got {
			if f.Code == string(reason.OwnerVersionNotServed) {
				broken++
			}
		}
	})
}
