package diagnose

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestPartIsEnough: the findings are those of a collector that has observed the whole snapshot, with
// every object and every owner looked up.
func TestPartIsEnough(t *testing.T) {
	smaller, shared, named, odd := 0, 0, 0, 0
	scenario.CheckUntil(t, func() bool { return smaller > 0 && shared > 0 && named > 10 && odd > 100 }, func(t *rapid.T) {
		w := scenario.DrawWorld(t, scenario.Wild)
		coverage := &snapshot.Coverage{}
		if rapid.Bool().Draw(t, "whole") {
			coverage = snapshot.CoversEverything()
		}
		disturb(t, w.Objects)
		snap := w.Snapshot(t, coverage)
		shared += shareOwners(t, snap)
		namespace := rapid.SampledFrom([]string{"", snap.Objects[0].Namespace}).Draw(t, "namespace")
		got, err := Check(t.Context(), snap, namespace, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ofAll(t.Context(), snap, namespace), got); diff != "" {
			t.Fatalf("(-of all +of what is asked for):\n%s\nin\n%s", diff, w)
		}
		if len(askedIn(snap).part(snap).Objects) < len(snap.Objects) {
			smaller++
		}
		for _, o := range snap.Objects {
			r, plain := plainResource(snap, o)
			if len(o.Owners) > 0 && (!plain || r.Namespaced != (o.Namespace != "")) {
				odd++
			}
		}
		for _, f := range got.Findings {
			if f.Code == string(reason.OwnerUIDMismatch) {
				named++
			}
		}
	})
	t.Logf("%d with less than all, %d siblings, %d owners with another uid, %d odd dependents", smaller, shared, named, odd)
}

// disturb gives some objects kinds, versions and scopes with which a server does not find them, and
// some references an unused uid.
func disturb(t *rapid.T, objects []*object.Object) {
	for _, o := range objects {
		switch rapid.IntRange(0, 20).Draw(t, "disturb") {
		case 0:
			o.Kind += "List"
		case 1:
			o.Kind = "Unserved"
		case 2:
			o.APIVersion = "apps/v1beta7"
		case 3:
			o.Namespace = ""
		case 4:
			o.Namespace = "elsewhere"
		case 5, 6, 7:
			o.Owners = slices.Clone(o.Owners)
			for i := range o.Owners {
				o.Owners[i].UID = "nobody"
			}
		}
	}
}

// shareOwners gives some objects the references of the one before, as readers do for siblings. It
// returns how many.
func shareOwners(t *rapid.T, snap *snapshot.Snapshot) (shared int) {
	for i, o := range snap.Objects[1:] {
		if before := snap.Objects[i]; len(before.Owners) > 0 && rapid.Bool().Draw(t, "sibling") {
			o.Owners = before.Owners
			shared++
		}
	}
	return shared
}

// ofAll is References on the whole snapshot.
func ofAll(ctx context.Context, snap *snapshot.Snapshot, namespace string) *report.Diagnosis {
	c := &checker{answer: answer{Snapshot: snap, Namespace: namespace, OfAll: true}}
	c.collector, c.world = plan.Open(snap, engine.Upstream)
	for _, o := range snap.Objects {
		if !c.wanted(o.Ref) {
			continue
		}
		c.Summary.Objects++
		c.Summary.References += len(o.Owners)
		if len(o.Owners) == 0 {
			continue
		}
		c.list(o)
		a, ok := c.collector.Inspect(o.UID)
		if !ok || a.Ref != o.Ref {
			a = engine.Attempt{Ref: o.Ref, Observed: o}
		}
		c.owners(o, engine.Examine(ctx, c.world, engine.Upstream, a).Owners)
	}
	c.cycles()
	c.problems()
	d := c.Document()
	d.Source.VersionDifferences = differences(snap, d.Findings)
	return d
}
