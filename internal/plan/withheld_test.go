package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestUnknownIsLeftAlone checks that the collection does not even begin to delete garbage with an
// unknown end, so that nothing follows from it.
func TestUnknownIsLeftAlone(t *testing.T) {
	const world = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: root, namespace: shop, uid: r, resourceVersion: "9",
   deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0, finalizers: [foregroundDeletion]}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: garbage, namespace: shop, uid: a, resourceVersion: "1",
   ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: root, uid: r, blockOwnerDeletion: true}]}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: below, namespace: shop, uid: b, resourceVersion: "2",
   ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: garbage, uid: a, blockOwnerDeletion: true}]}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: open, namespace: shop, uid: c, resourceVersion: "3",
   ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: garbage, uid: a, blockOwnerDeletion: true},
                     {apiVersion: example.com/v1, kind: Unheard, name: other, uid: z}]}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: certain, namespace: shop, uid: d, resourceVersion: "4",
   ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: x}]}}
`
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(world), TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		rules   engine.Rules
		effects map[string]string
		writes  []string
	}{
		{
			engine.Strict,
			map[string]string{
				"root": "Unknown DependentUnknown", "garbage": "Unknown DependentUnknown",
				"below": "Unknown OwnerUnknown", "open": "Unknown UnknownOwnerKind", "certain": "Deleted NoExistingOwner",
			},
			[]string{"certain"},
		},
		{ // the collector of Kubernetes begins it
			engine.Upstream,
			map[string]string{
				"root": "Unknown DependentUnknown", "garbage": "Unknown DependentUnknown",
				"below": "Deleted WaitingOwner", "open": "Unknown UnknownOwnerKind", "certain": "Deleted NoExistingOwner",
			},
			[]string{"garbage", "below", "certain"},
		},
	} {
		result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{Rules: tt.rules})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, e := range result.Plan.Effects {
			got[e.Object.Name] = string(e.Outcome) + " " + e.Reason
		}
		if diff := cmp.Diff(tt.effects, got); diff != "" {
			t.Errorf("%s: effects (-want +got):\n%s", tt.rules, diff)
		}
		var writes []string
		for _, w := range result.Writes() {
			writes = append(writes, w.Object.Name)
		}
		if diff := cmp.Diff(tt.writes, writes); diff != "" {
			t.Errorf("%s: writes (-want +got):\n%s", tt.rules, diff)
		}
	}
}

// TestUnknownUnderAnotherOrderIsLeftAlone checks that an object that may be unknown if events
// arrive in another order is not written to either.
func TestUnknownUnderAnotherOrderIsLeftAlone(t *testing.T) {
	snap := world(t, `
rbac.authorization.k8s.io/v1 ClusterRole root uid=root owners=root
v1 ConfigMap n/one uid=shared owners=v1:ConfigMap:one:shared
v1 ConfigMap n/other uid=shared owners=v1:ConfigMap:gone:gone,root
v1 ConfigMap n/a owners=v1:ConfigMap:one:shared
v1 ConfigMap n/b owners=a,v1:ConfigMap:gone:gone
v1 ConfigMap n/c owners=v1:ConfigMap:one:shared,root`)
	writes := func(explore int) string {
		result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{Rules: engine.Strict, Explore: explore})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, w := range result.Writes() {
			names = append(names, w.Object.Name)
		}
		return strings.Join(names, " ")
	}
	if got := writes(0); got != "b" {
		t.Errorf("without looking for other orders: %s", got)
	}
	if got := writes(plan.Usual); got != "" {
		t.Errorf("writes to %s: whether its owner stays may be unknown", got)
	}
}

const withKept = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: shop, uid: a, resourceVersion: "1",
   ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: x}]}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: below, namespace: shop, uid: b, resourceVersion: "2",
   ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: kept, uid: a}]}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: garbage, namespace: shop, uid: c, resourceVersion: "3",
   ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: x}]}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: pruned, namespace: shop, uid: d, resourceVersion: "4",
   ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: x}, {apiVersion: v1, kind: ConfigMap, name: kept, uid: a}]}}
`

// TestKeep withholds deletes from one object. It stays with the objects that it owns, and
// everything else happens.
func TestKeep(t *testing.T) {
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(withKept), TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	keep := func(o *object.Object, removes bool) reason.Code {
		if o.Name == "kept" && removes {
			return reason.Protected
		}
		return ""
	}
	result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{Rules: engine.Strict, Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range result.Plan.Effects {
		got[e.Object.Name] = string(e.Outcome) + " " + e.Reason
	}
	want := map[string]string{"kept": "Kept Protected", "garbage": "Deleted NoExistingOwner", "pruned": "Pruned DanglingReferences"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	var writes []string
	for _, w := range result.Writes() {
		writes = append(writes, w.Object.Name)
	}
	if diff := cmp.Diff([]string{"garbage", "pruned"}, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if len(result.Plan.Stuck) > 0 {
		t.Errorf("what is withheld on purpose is called stuck: %+v", result.Plan.Stuck)
	}
}

// TestElsewhere checks that the plan of a collection in one namespace does not mention garbage,
// stuck or unknown objects in another one.
func TestElsewhere(t *testing.T) {
	const world = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: garbage, namespace: shop, uid: a, resourceVersion: "1",
   ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: x}]}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: garbage, namespace: other, uid: b, resourceVersion: "2",
   ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: x}]}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: stuck, namespace: other, uid: c, resourceVersion: "3",
   deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0, finalizers: [example.com/hold]}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: unknown, namespace: other, uid: d, resourceVersion: "4",
   ownerReferences: [{apiVersion: example.com/v1, kind: Unheard, name: it, uid: z}]}}
`
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(world), TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	snap.Source.Discovered = true // so that an unserved kind is known not to be served
	keep := func(o *object.Object, _ bool) reason.Code {
		if o.Namespace != "shop" {
			return reason.NotAskedFor
		}
		return ""
	}
	for _, tt := range []struct {
		keep  plan.Keeper
		want  string
		stuck int
	}{
		{keep, "shop/garbage Deleted", 0},
		{nil, "other/garbage Deleted, other/stuck Blocked, other/unknown Unknown, shop/garbage Deleted", 1},
	} {
		result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{Rules: engine.Strict, Keep: tt.keep})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range result.Plan.Effects {
			got = append(got, e.Object.Namespace+"/"+e.Object.Name+" "+string(e.Outcome))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("effects (-want +got):\n%s", diff)
		}
		if stuck := len(result.Plan.Stuck); stuck != tt.stuck {
			t.Errorf("%d are tried again, want %d: %+v", stuck, tt.stuck, result.Plan.Stuck)
		}
	}
}
