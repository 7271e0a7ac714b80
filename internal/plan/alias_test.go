package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestOwnersUnderAnotherName checks owner references with another version or a former group of a
// kind, which are views of one object. If such a view is known to be served, the reference works
// like any other. If not, its dependents stay as long as the owner does, and are unknown after
// that.
func TestOwnersUnderAnotherName(t *testing.T) {
	const (
		widget    = `{apiVersion: example.com/v2, kind: Widget, metadata: {name: w, namespace: shop, uid: w, resourceVersion: "1"}}`
		waiting   = `{apiVersion: example.com/v2, kind: Widget, metadata: {name: w, namespace: shop, uid: w, resourceVersion: "1", deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0, finalizers: [foregroundDeletion]}}`
		older     = `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x, namespace: shop, uid: x, resourceVersion: "1"}}`
		otherUID  = `{apiVersion: example.com/v2, kind: Widget, metadata: {name: w, namespace: shop, uid: z, resourceVersion: "1"}}`
		elsewhere = `{apiVersion: example.com/v2, kind: Widget, metadata: {name: w, namespace: other, uid: w, resourceVersion: "1"}}`
		set       = `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: w, namespace: shop, uid: w, resourceVersion: "1"}}`
		former    = `{apiVersion: extensions/v1beta1, kind: ReplicaSet, metadata: {name: x, namespace: shop, uid: x, resourceVersion: "1"}}`
		event     = `{apiVersion: v1, kind: Event, metadata: {name: w, namespace: shop, uid: w, resourceVersion: "1"}}`
		live, no  = "", "Unknown UnknownOwnerKind"
	)
	for _, tt := range []struct {
		name, objects, owner string
		// collect and strict are the effect of a collection on the dependent, upstream's and ours.
		// deleted is the effect of the delete of its owner.
		collect, strict, deleted string
	}{
		{"another version", widget, "example.com/v1:Widget", live, live, no},
		{"another version that is served", widget + "\n- " + older, "example.com/v1:Widget", live, live, "Deleted NoExistingOwner"},
		{"another version of an owner that waits", waiting, "example.com/v1:Widget", no, no, ""},
		{"another version of another object of that name", otherUID, "example.com/v1:Widget", no, no, ""},
		{"another version in another namespace", elsewhere, "example.com/v1:Widget", no, no, ""},
		{"another group", widget, "example.org/v1:Widget", no, no, no},
		{"another kind", widget, "example.com/v1:Gadget", no, no, no},
		{"the group of before", set, "extensions/v1beta1:ReplicaSet", live, live, no},
		{"the group of before, that is served", set + "\n- " + former, "extensions/v1beta1:ReplicaSet", live, live, "Deleted NoExistingOwner"},
		{"the group of before for an object of now", former + "\n- " + set, "apps/v1:ReplicaSet", live, live, "Deleted NoExistingOwner"},
		{"the other group of Events", event, "events.k8s.io/v1:Event", live, live, "Deleted NoExistingOwner"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			apiVersion, kind, _ := strings.Cut(tt.owner, ":")
			dump := "apiVersion: v1\nkind: List\nitems:\n- " + tt.objects + "\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop, uid: c, resourceVersion: \"1\", " +
				"ownerReferences: [{apiVersion: " + apiVersion + ", kind: " + kind + ", name: w, uid: w}]}}\n"
			snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(dump), TreatMissingAsAbsent: true})
			if err != nil {
				t.Fatal(err)
			}
			var owner object.Ref
			for _, o := range snap.Objects {
				if o.Namespace == "shop" && o.Name == "w" {
					owner = o.Ref
				}
			}
			got := map[string]string{}
			try := func(what string, seed plan.Seed, rules engine.Rules) {
				result, err := plan.Simulate(t.Context(), snap, seed, plan.Options{Rules: rules})
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range result.Plan.Effects {
					if e.Object.Name == "c" {
						got[what] = string(e.Outcome) + " " + e.Reason
					}
				}
			}
			try("collect", plan.CollectSeed(), engine.Upstream)
			try("strict", plan.CollectSeed(), engine.Strict)
			want := map[string]string{"collect": tt.collect, "strict": tt.strict, "deleted": tt.deleted}
			if owner.UID != "" {
				try("deleted", plan.DeleteSeed(engine.Background, owner), engine.Upstream)
			}
			for what, effect := range want {
				if effect == "" {
					delete(want, what)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
