package diagnose_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

func drawSnapshot(t *rapid.T, v scenario.Variety) *snapshot.Snapshot {
	return scenario.DrawWorld(t, v).DrawSnapshot(t, 2)
}

func explained(t *rapid.T, snap *snapshot.Snapshot, ref object.Ref) *report.Explanation {
	e, err := diagnose.Explain(t.Context(), snap, ref, diagnose.ExplanationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestNextIsWhatTheCollectorSends: the request that an explanation announces is the first one that
// the collector sends for the object.
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
			// Nothing is sent, so that the world stays unchanged.
			d.Requests, d.Disposition = nil, engine.Forget
			collector.Settle(engine.Act(t.Context(), world, d))
		}
		for _, o := range snap.Objects {
			want, asked := first[o.UID]
			if e := explained(t, snap, o.Ref); asked && e.Next != want {
				t.Fatalf("%s: the garbage collector sends %q, the explanation says %q", o.Ref, want, e.Next)
			}
		}
	})
}

// request returns the first request of a decision, in the form of explanations.
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

// drawCluster draws a snapshot with namespaces, definitions, nodes and storage.
func drawCluster(t *rapid.T) *snapshot.Snapshot {
	return scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 6)
}

// TestTakenBy: the listed takers are exactly the single deletes that take the object, of all objects
// of the world under all policies. The unknown ones are exactly those with a plan that says Unknown.
func TestTakenBy(t *testing.T) {
	certain, unknown := 0, 0
	scenario.CheckUntil(t, func() bool { return certain > 0 && unknown > 0 }, func(t *rapid.T) {
		snap := drawCluster(t)
		asked := slices.DeleteFunc(slices.Clone(snap.Objects), func(o *object.Object) bool {
			r, err := snap.Resources.For(o.APIVersion, o.Kind)
			return err != nil || !snap.Resources.Monitored(r) || repeated(snap, o)
		})
		if len(asked) == 0 {
			return // no object can be explained
		}
		o := rapid.SampledFrom(asked).Draw(t, "object")
		e, err := diagnose.Explain(t.Context(), snap, o.Ref, diagnose.ExplanationOptions{AllPolicies: true})
		if err != nil {
			t.Fatal(err)
		}
		want, sure, undecided := allTakers(t, snap, o)
		certain, unknown = certain+sure, unknown+undecided
		got := map[taken]bool{}
		for _, x := range e.TakenBy {
			got[taken{x.Object, x.Policy, x.Unknown, x.Later}] = true
		}
		if diff := cmp.Diff(want, got); diff != "" || e.TakersUntried != 0 || len(got) != len(e.TakenBy) {
			t.Fatalf("%s is taken by (-simulated +said):\n%s\n%d untried, in\n%s", o.Ref, diff, e.TakersUntried, scenario.World{Objects: snap.Objects})
		}
		if diff := cmp.Diff(mildest(e.TakenBy), explained(t, snap, o.Ref).TakenBy); diff != "" {
			t.Fatalf("%s is taken most mildly by (-of all +said):\n%s", o.Ref, diff)
		}
	})
}

// taken is a report.Taker without the finalizers.
type taken struct {
	object         object.Ref
	policy         string
	unknown, later bool
}

// allTakers tries every single delete.
func allTakers(t *rapid.T, snap *snapshot.Snapshot, o *object.Object) (takers map[taken]bool, certain, unknown int) {
	takers = map[taken]bool{}
	before := effect(t, snap, plan.CollectSeed(), o).Outcome
	if before == report.Deleted {
		return takers, 0, 0
	}
	for _, x := range snap.Objects {
		for _, policy := range []engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy} {
			if x == o {
				continue
			}
			taker := taken{object: x.Ref, policy: policy.String()}
			switch e := effect(t, snap, plan.DeleteSeed(policy, x.Ref), o); {
			case e.Outcome == report.Deleted && !e.AlreadyHappening:
				takers[taker] = true
				certain++
			case e.Later == report.Deleted && !e.AlreadyHappening && before != report.Blocked:
				taker.later = true
				takers[taker] = true
			case e.Outcome == report.Unknown && before != report.Unknown:
				taker.unknown = true
				takers[taker] = true
				unknown++
			}
		}
	}
	return takers, certain, unknown
}

// mildest keeps, for each object, the first delete that is expected to take it, or else the first
// that does after finalizers are removed, or else the first.
func mildest(takers []report.Taker) []report.Taker {
	kept := []report.Taker{}
	for _, taker := range takers {
		i := slices.IndexFunc(kept, func(k report.Taker) bool { return k.Object == taker.Object })
		switch {
		case i < 0:
			kept = append(kept, taker)
		case kept[i].Unknown && !taker.Unknown, kept[i].Later && !taker.Later && !taker.Unknown:
			kept[i] = taker
		}
	}
	return kept
}

func repeated(snap *snapshot.Snapshot, o *object.Object) bool {
	return slices.ContainsFunc(snap.Problems, func(p snapshot.Problem) bool {
		return p.Kind == snapshot.DuplicateUID && p.Object.UID == o.UID
	})
}

func effect(t *rapid.T, snap *snapshot.Snapshot, seed plan.Seed, o *object.Object) report.Effect {
	result, err := plan.Simulate(t.Context(), snap, seed, plan.Options{Record: plan.RecordRequests})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Plan.Effects {
		if e.Object == o.Ref {
			return e
		}
	}
	return report.Effect{Outcome: report.Kept}
}

func outcome(t *rapid.T, snap *snapshot.Snapshot, seed plan.Seed, o *object.Object) report.Outcome {
	return effect(t, snap, seed, o).Outcome
}

// TestVerdictsAgreeWithPlans: a collection deletes every object that is explained as garbage, unless
// the server refuses or nothing makes the collector look at it before its owner is gone. It deletes
// none that is explained as undecidable.
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
			stays := e.Reason == string(reason.WaitingOwner) || e.Reason == string(reason.RequestRefused)
			// A plan has only one of several objects that share a uid.
			twins := slices.ContainsFunc(snap.Problems, func(p snapshot.Problem) bool { return p.Kind == snapshot.DuplicateUID })
			if got != report.Deleted && got != report.Blocked && !twins && !stays {
				t.Fatalf("%s is called garbage, and is %s: %s %s\n%s", o.Ref, got, e.Reason, e.Message, scenario.World{Objects: snap.Objects})
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

// TestCyclesEnd: the chain of owners ends in a cycle.
func TestCyclesEnd(t *testing.T) {
	objects, err := scenario.ParseWorld("v1 ConfigMap n/a owners=b\nv1 ConfigMap n/b owners=c\nv1 ConfigMap n/c owners=a\n", scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := diagnose.Explain(t.Context(), snap, snap.Objects[0].Ref, diagnose.ExplanationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Chain) != 3 || e.Chain[2].Name != "a" || e.Verdict != report.Live {
		t.Errorf("chain %v, verdict %s", e.Chain, e.Verdict)
	}
}
