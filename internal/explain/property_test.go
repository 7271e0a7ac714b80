package explain_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

func drawSnapshot(t *rapid.T, v scenario.Variety) *snapshot.Snapshot {
	w := scenario.DrawWorld(t, v)
	coverage := &snapshot.Coverage{}
	if rapid.Bool().Draw(t, "whole") {
		coverage = snapshot.CoversEverything()
	} else {
		for _, r := range scenario.Resources().All() {
			if rapid.Bool().Draw(t, "covered") {
				coverage.Add(r.GroupResource(), "")
			}
		}
	}
	snap, err := snapshot.New(w.Objects, scenario.Resources(), coverage, snapshot.Source{})
	if err != nil {
		t.Skip("the objects are of two clusters")
	}
	return snap
}

func explained(t *rapid.T, snap *snapshot.Snapshot, ref object.Ref) *report.Explanation {
	e, err := explain.Object(t.Context(), snap, ref)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestNextIsWhatTheCollectorSends: the request that an explanation announces is
// the first one that the collector sends for the object in the world as it is.
func TestNextIsWhatTheCollectorSends(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := drawSnapshot(t, scenario.Wild&^scenario.RepeatedUIDs&^scenario.Graceful)
		first := map[types.UID]string{}
		collector, world := plan.Open(snap, engine.Upstream)
		for {
			a, ok := collector.Next()
			if !ok {
				break
			}
			d := collector.Decide(engine.Lookup(t.Context(), world, engine.Upstream, a))
			if _, seen := first[a.Ref.UID]; !seen && !a.Virtual && a.Work == engine.DeleteWork {
				first[a.Ref.UID] = request(d)
			}
			// Nothing is sent, so that the world stays as it is.
			d.Requests, d.Fate = nil, engine.Forget
			collector.Settle(engine.Act(t.Context(), world, engine.Upstream, d))
		}
		for _, o := range snap.Objects {
			want, asked := first[o.UID]
			if e := explained(t, snap, o.Ref); asked && e.Next != want {
				t.Fatalf("%s: the collector sends %q, the explanation says %q", o.Ref, want, e.Next)
			}
		}
	})
}

// request is the first request of a decision, as explanations write it.
func request(d engine.Decision) string {
	if len(d.Requests) == 0 {
		return ""
	}
	switch r := d.Requests[0]; r.Verb {
	case engine.DeleteObject:
		return "DELETE " + r.Policy.String()
	case engine.RemoveOwners:
		return "PATCH ownerReferences"
	case engine.RemoveFinalizer:
		return "PATCH finalizers"
	default:
		return "PATCH blockOwnerDeletion"
	}
}

// TestTakenByIsTrue: each named delete takes the object, in the whole world too,
// and an object that goes anyway is taken by nobody.
func TestTakenByIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := drawSnapshot(t, scenario.Wild)
		o := rapid.SampledFrom(snap.Objects).Draw(t, "object")
		for _, taker := range explained(t, snap, o.Ref).TakenBy {
			policy := engine.Background
			if taker.Policy == engine.ForegroundPolicy.String() {
				policy = engine.ForegroundPolicy
			}
			if got := outcome(t, snap, plan.DeleteSeed(policy, object.Ref(taker.Object)), o); got != report.Deleted {
				t.Fatalf("%s is said to be taken by a %s delete of %v, and is %s", o.Ref, taker.Policy, taker.Object, got)
			}
			if got := outcome(t, snap, plan.CollectSeed(), o); got == report.Deleted {
				t.Fatalf("%s goes anyway and is said to be taken by %v", o.Ref, taker.Object)
			}
		}
	})
}

func outcome(t *rapid.T, snap *snapshot.Snapshot, seed plan.Seed, o *object.Object) report.Outcome {
	result, err := plan.Simulate(t.Context(), snap, seed, plan.Options{NoSteps: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Plan.Effects {
		if e.Object == report.RefOf(o.Ref) {
			return e.Outcome
		}
	}
	return report.Kept
}

// TestVerdictsAgreeWithPlans: what an explanation calls garbage is what a
// collection takes, and what it calls undecidable is never taken.
func TestVerdictsAgreeWithPlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := drawSnapshot(t, scenario.Wild)
		o := rapid.SampledFrom(snap.Objects).Draw(t, "object")
		e := explained(t, snap, o.Ref)
		if e.Message == "" || e.Reason == "" {
			t.Fatalf("%s: no message or reason: %+v", o.Ref, e)
		}
		if slices.ContainsFunc(e.Remedies, func(r report.Remedy) bool { return r.Command == "" || r.Effect == "" }) {
			t.Fatalf("%s: an empty remedy: %+v", o.Ref, e.Remedies)
		}
		if len(e.Chain) > len(snap.Objects)+1 {
			t.Fatalf("%s: the chain has %d links", o.Ref, len(e.Chain))
		}
		got := outcome(t, snap, plan.CollectSeed(), o)
		switch e.Verdict {
		case report.Garbage:
			if got != report.Deleted && got != report.Blocked {
				t.Fatalf("%s is called garbage, and is %s", o.Ref, got)
			}
		case report.Live:
			if got != report.Kept && got != report.Pruned && got != report.Orphaned {
				t.Fatalf("%s is said to stay, and is %s", o.Ref, got)
			}
		case report.Undecidable:
			if got == report.Deleted {
				t.Fatalf("%s is called undecidable, and is deleted", o.Ref)
			}
		default:
			if !o.BeingDeleted() {
				t.Fatalf("%s is called %s and is not being deleted", o.Ref, e.Verdict)
			}
		}
	})
}

// TestCyclesEnd: the chain of owners of objects that own one another ends.
func TestCyclesEnd(t *testing.T) {
	objects, err := scenario.ParseWorld("v1 ConfigMap n/a owners=b\nv1 ConfigMap n/b owners=c\nv1 ConfigMap n/c owners=a\n", scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := explain.Object(t.Context(), snap, snap.Objects[0].Ref)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Chain) != 3 || e.Chain[2].Name != "a" || e.Verdict != report.Live {
		t.Errorf("chain %v, verdict %s", e.Chain, e.Verdict)
	}
}
