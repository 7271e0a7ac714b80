package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// drawReferrers draws references between the objects of a snapshot, and to objects that are not there.
func drawReferrers(t *rapid.T, snap *snapshot.Snapshot) []*health.Record {
	var records []*health.Record
	for _, o := range snap.Objects {
		n := rapid.IntRange(0, 2).Draw(t, "references")
		if n == 0 {
			continue
		}
		user := health.Referrer{Ref: o.Ref}
		for range n {
			to := rapid.SampledFrom(snap.Objects).Draw(t, "to").Ref
			if rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
				to.Name = "absent"
			}
			user.References = append(user.References, uses.Reference{
				Field: "spec.ref", Group: to.Group(), Kind: to.Kind, Namespace: to.Namespace, Name: to.Name, Optional: rapid.IntRange(0, 4).Draw(t, "optional") == 0,
			})
		}
		records = append(records, &health.Record{
			APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: o.UID, Referring: true,
			Shown: health.Shown{Referrers: []health.Referrer{user}},
		})
	}
	return records
}

// TestBreakages checks that what breaks stays, refers to something that is there and goes, and does not
// depend on the order of the evidence.
func TestBreakages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := drawSnapshot(t)
		seed := drawSeed(t, snap)
		records := drawReferrers(t, snap)
		broken := func() ([]report.Breakage, *report.Plan) {
			seen := &health.Evidence{}
			for _, r := range records {
				seen.Take(r)
			}
			p := simulate(t, snap, seed, plan.Options{Health: health.New(snap, seen, 0)}).Plan
			return p.Broken, p
		}
		list, p := broken()
		goes := map[object.Ref]bool{}
		for e := range p.Account() {
			goes[e.Object] = e.IsDeleted()
		}
		for _, b := range list {
			o := snap.Find(b.Object.APIVersion, b.Object.Kind, b.Object.Namespace, b.Object.Name)
			switch {
			case o == nil || o.BeingDeleted() || goes[b.Object]:
				t.Fatalf("%s breaks, and goes", b.Object)
			case !goes[b.Reference]:
				t.Fatalf("%s breaks, and %s stays", b.Object, b.Reference)
			case snap.Find(b.Reference.APIVersion, b.Reference.Kind, b.Reference.Namespace, b.Reference.Name) == nil:
				t.Fatalf("%s was broken before", b.Object)
			}
		}
		slices.Reverse(records)
		again, _ := broken()
		if diff := cmp.Diff(list, again); diff != "" {
			t.Fatalf("the order of the evidence matters (-first +second):\n%s", diff)
		}
	})
}

// TestUnreadBindings: a binding that goes may take permissions that its list, which was not read, would show.
func TestUnreadBindings(t *testing.T) {
	const text = "v1 Namespace n\nrbac.authorization.k8s.io/v1 RoleBinding n/b\nrbac.authorization.k8s.io/v1 ClusterRoleBinding b\nv1 ConfigMap n/c"
	snap := world(t, text)
	for _, tt := range []struct {
		of     object.Ref
		whole  bool
		unread []string
	}{
		{object.RoleBinding.Ref("n", "b"), false, []string{"rolebindings n"}},
		{object.RoleBinding.Ref("n", "b"), true, nil},
		{object.ClusterRoleBinding.Ref("", "b"), false, []string{"clusterrolebindings "}},
		{object.Kind{GroupKind: schema.GroupKind{Kind: "ConfigMap"}, Version: "v1"}.Ref("n", "c"), false, nil},
	} {
		seen := &health.Evidence{}
		if tt.whole {
			seen.Mark(health.RoleBindings, "", "")
		}
		target := snap.Find(tt.of.APIVersion, tt.of.Kind, tt.of.Namespace, tt.of.Name)
		result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, target.Ref), plan.Options{Health: health.New(snap, seen, 0)})
		if err != nil {
			t.Fatal(err)
		}
		var unread []string
		for _, g := range result.Plan.UnreadReferrers {
			if strings.HasSuffix(g.Resource, "bindings") {
				unread = append(unread, g.Resource+" "+g.Namespace)
			}
		}
		if !slices.Equal(unread, tt.unread) {
			t.Errorf("%s, whole %t: unread %v, want %v", tt.of, tt.whole, unread, tt.unread)
		}
	}
}
