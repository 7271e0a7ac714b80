package plan_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// forgotten has an owner whose deletion a running collector may have missed.
const forgotten = `apiVersion: v1
kind: ConfigMap
metadata: {name: owner, namespace: shop, uid: u-owner, deletionTimestamp: "2026-05-01T11:00:00Z", finalizers: [foregroundDeletion]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: below, namespace: shop, uid: u-below, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: u-owner, blockOwnerDeletion: true}]}
`

const expiredLease = `---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: kube-controller-manager, namespace: kube-system, uid: u-l}
spec: {holderIdentity: m1, renewTime: "2026-05-01T10:00:00.000000Z", leaseDurationSeconds: 15}
`

// TestCollectorStateExplored checks that only a running collector is tried with memories, that a
// state also holds if nothing is known about the other controllers, and that our own collector has
// always just started.
func TestCollectorStateExplored(t *testing.T) {
	snap, seen := seenWorld(t, &datadriven.TestData{Input: forgotten})
	owner := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "owner", UID: "u-owner"}
	below := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "below", UID: "u-below"}
	for _, tt := range []struct {
		state, named report.CollectorState
		rules        engine.Rules
		// seen: something is known about the other controllers. expired: that is that the lease of
		// kube-controller-manager has expired.
		seen, expired bool
		memories      bool
		owner, below  report.Outcome
	}{
		{state: "", seen: true, memories: true, owner: report.Unknown, below: report.Unknown},
		{state: report.CollectorRunning, named: report.CollectorRunning, seen: true, memories: true, owner: report.Unknown, below: report.Unknown},
		{state: "", expired: true, owner: report.Blocked, below: report.Kept},
		{state: "", memories: true, owner: report.Deleted, below: report.Deleted},
		{state: report.CollectorRestarted, named: report.CollectorRestarted, seen: true, owner: report.Deleted, below: report.Deleted},
		{state: report.CollectorRestarted, named: report.CollectorRestarted, owner: report.Deleted, below: report.Deleted},
		{state: report.CollectorStopped, named: report.CollectorStopped, seen: true, owner: report.Blocked, below: report.Kept},
		{state: report.CollectorStopped, named: report.CollectorStopped, owner: report.Blocked, below: report.Kept},
		{state: report.CollectorStopped, rules: engine.Strict, seen: true, owner: report.Deleted, below: report.Deleted},
	} {
		o := plan.Options{Rules: tt.rules, Collector: tt.state, Explore: plan.Usual}
		if tt.expired {
			gone, seen := seenWorld(t, &datadriven.TestData{Input: forgotten + expiredLease})
			o.Health = health.New(gone, seen, noon.Unix())
		}
		if tt.seen {
			o.Health = health.New(snap, seen, noon.Unix())
		}
		result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), o)
		if err != nil {
			t.Fatal(err)
		}
		p, got := result.Plan, map[object.Ref]report.Outcome{}
		for _, e := range p.Effects {
			got[e.Object] = e.Outcome
		}
		if diff := cmp.Diff(map[object.Ref]report.Outcome{owner: tt.owner, below: tt.below}, got); diff != "" {
			t.Errorf("%+v: -want +got\n%s", tt, diff)
		}
		if tried := p.Exploration.Memories > 0; tried != tt.memories {
			t.Errorf("%+v: %+v", tt, *p.Exploration)
		}
		if tt.seen && p.Collector != tt.named {
			t.Errorf("%+v: the plan assumes %q", tt, p.Collector)
		}
	}
}

// TestCollectorStateDigest checks that the digest depends on the state of the collector exactly if
// the account does.
func TestCollectorStateDigest(t *testing.T) {
	for world, different := range map[string]bool{
		forgotten: true,
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: owner, namespace: shop, uid: u-owner}\n": false,
	} {
		snap, seen := seenWorld(t, &datadriven.TestData{Input: world})
		digests := map[string]bool{}
		states := []report.CollectorState{report.CollectorRunning, report.CollectorRestarted, report.CollectorStopped}
		for _, state := range states {
			seed := plan.DeleteSeed(engine.ForegroundPolicy, snap.Find("v1", "ConfigMap", "shop", "owner").Ref)
			if !different {
				seed.Policy = engine.Background
			}
			result, err := plan.Simulate(t.Context(), snap, seed, plan.Options{Collector: state, Health: health.New(snap, seen, noon.Unix())})
			if err != nil {
				t.Fatal(err)
			}
			digests[result.Plan.Digest] = true
		}
		want := 1
		if different {
			want = len(states)
		}
		if len(digests) != want {
			t.Errorf("%d digests, want %d, of\n%s", len(digests), want, world)
		}
	}
}
