package plan_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// overduePlan returns the plan of the delete of a namespace with a pod that has been terminating
// since a time of the day, and with objects that are deleted after it.
func overduePlan(t *testing.T, since string) *report.Plan {
	t.Helper()
	snap, seen := seenWorld(t, &datadriven.TestData{Input: fmt.Sprintf(`apiVersion: v1
kind: Namespace
metadata: {name: shop, uid: u-ns}
spec: {finalizers: [kubernetes]}
status: {phase: Active}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, uid: u-web, deletionTimestamp: "2026-05-01T%sZ", deletionGracePeriodSeconds: 30}
spec: {nodeName: n1}
status: {phase: Running}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: rest, namespace: shop, uid: u-rest}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: below, namespace: shop, uid: u-below, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: rest, uid: u-rest}]}
`, since)})
	seed := plan.DeleteSeed(engine.Background, object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "shop", UID: "u-ns"})
	result, err := plan.Simulate(t.Context(), snap, seed, plan.Options{Health: health.New(snap, seen, noon.Unix())})
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan
}

// TestLateAccount checks that objects that wait for an overdue controller are in the account of a
// delete as undecided. Those that were being deleted before are marked as Anyway.
func TestLateAccount(t *testing.T) {
	p := overduePlan(t, "11:00:00")
	got := map[string]string{}
	for e := range p.Account() {
		c := e.Consequence
		got[e.Object.KubectlName()] = fmt.Sprint(c.Change, " ", c.Certainty, " ", e.Outcome, " anyway=", c.Anyway)
	}
	const open = "Deleted Unknown Unknown anyway="
	want := map[string]string{"namespace/shop": open + "false", "configmap/rest": open + "false", "configmap/below": open + "false", "pod/web": open + "true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if p.Complete {
		t.Error("a plan that does not know what becomes of its target is not complete")
	}
}

// TestLateDigest checks that a digest does not change with time, but changes once a controller is
// overdue.
func TestLateDigest(t *testing.T) {
	digest := func(since string) string { return overduePlan(t, since).Digest }
	if a, b := digest("11:58:00"), digest("11:55:00"); a != b {
		t.Errorf("in time: %s, %s", a, b)
	}
	if a, b := digest("11:54:59"), digest("02:00:00"); a != b {
		t.Errorf("late: %s, %s", a, b)
	}
	if a, b := digest("11:55:00"), digest("11:54:59"); a == b {
		t.Error("whether the kubelet is late makes no difference")
	}
}

// TestLateCollector checks that our own collector does the overdue work of the collector of
// Kubernetes, but not that of the controllers.
func TestLateCollector(t *testing.T) {
	snap, seen := seenWorld(t, &datadriven.TestData{Input: `apiVersion: v1
kind: ConfigMap
metadata: {name: owner, namespace: shop, uid: u-owner, deletionTimestamp: "2026-05-01T11:00:00Z", finalizers: [foregroundDeletion]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: below, namespace: shop, uid: u-below, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: u-owner, blockOwnerDeletion: true}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop, uid: u-data, deletionTimestamp: "2026-05-01T11:00:00Z", finalizers: [kubernetes.io/pvc-protection]}
`})
	const open, goes = report.Unknown, report.Deleted
	for _, c := range []struct {
		rules              engine.Rules
		explore            int
		owner, below, data report.Outcome
	}{
		{engine.Upstream, 0, open, open, open},
		{engine.Upstream, plan.Usual, open, open, open}, // the same with other schedules and memories
		{engine.Upstream, 32, open, open, open},
		{engine.Strict, 0, goes, goes, open},
	} {
		o := plan.Options{Rules: c.rules, Explore: c.explore, Health: health.New(snap, seen, noon.Unix())}
		result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), o)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]report.Outcome{}
		for _, e := range result.Plan.Effects {
			got[e.Object.KubectlName()] = e.Outcome
			if e.DependsOnTiming {
				t.Errorf("%v, %d schedules: %s depends on timing: %s", c.rules, c.explore, e.Object.KubectlName(), e.Message)
			}
		}
		want := map[string]report.Outcome{"configmap/owner": c.owner, "configmap/below": c.below, "persistentvolumeclaim/data": c.data}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v, %d schedules: -want +got\n%s", c.rules, c.explore, diff)
		}
	}
}
