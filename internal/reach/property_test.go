package reach_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

var policies = []engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}

// draw draws a snapshot that covers its world completely or partly.
func drawReach(t *rapid.T) *snapshot.Snapshot {
	return scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 7)
}

func mapped(snap *snapshot.Snapshot) *reach.Map {
	collector, _ := plan.Open(snap, engine.Upstream)
	return reach.New(snap, collector.Graph())
}

// caused returns the outcomes that a delete causes, by object.
func caused(t *rapid.T, snap *snapshot.Snapshot, o *object.Object, policy engine.Policy) map[object.Ref]report.Outcome {
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(policy, o.Ref), plan.Options{Record: plan.RecordRequests})
	if err != nil {
		t.Fatal(err)
	}
	before := collected(t, snap)
	outcomes := map[object.Ref]report.Outcome{}
	for _, e := range result.Plan.Effects {
		if !e.AlreadyHappening && e.Outcome != report.Kept && (e.Outcome == report.Deleted || e.Outcome != before[e.Object]) {
			outcomes[e.Object] = e.Outcome
		}
	}
	return outcomes
}

// collected returns the outcomes of a run without a delete.
func collected(t *rapid.T, snap *snapshot.Snapshot) map[object.Ref]report.Outcome {
	result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{Record: plan.RecordRequests})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[object.Ref]report.Outcome{}
	for _, e := range result.Plan.Effects {
		outcomes[e.Object] = e.Outcome
	}
	return outcomes
}

// TestPartDecides: a delete has the same effects in a part as in the whole world. It affects only
// objects of the part. Each affected object has the target in its Above.
func TestPartDecides(t *testing.T) {
	smaller := 0
	rapid.Check(t, func(t *rapid.T) {
		snap := drawReach(t)
		m := mapped(snap)
		o := rapid.SampledFrom(snap.Objects).Draw(t, "target")
		part := m.Part(o)
		if len(part.Objects) < len(snap.Objects) {
			smaller++
		}
		for _, policy := range policies {
			whole := caused(t, snap, o, policy)
			if diff := cmp.Diff(whole, caused(t, part, o, policy)); diff != "" {
				t.Fatalf("%s delete of %s (-whole +part):\n%s\nin\n%s\npart\n%s", policy, o.Ref, diff, text(snap), text(part))
			}
			for _, x := range snap.Objects {
				outcome := whole[x.Ref]
				concerned := outcome == report.Deleted || outcome == report.Unknown
				if concerned && x != o && !slices.Contains(m.Ancestors(x), o) {
					t.Fatalf("a %s delete of %s concerns %s, which it is not above, in\n%s", policy, o.Ref, x.Ref, text(snap))
				}
			}
		}
	})
	if smaller == 0 {
		t.Error("no part was smaller than the whole")
	}
}

// TestAboutDecides: a background delete has the same effect on one object in the part about it as
// in the whole world.
func TestAboutDecides(t *testing.T) {
	smaller, taken := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		snap := drawReach(t)
		m := mapped(snap)
		target := rapid.SampledFrom(snap.Objects).Draw(t, "target")
		for _, o := range append(m.Ancestors(target), target) {
			part := m.About(target, o)
			if len(part.Objects) < len(m.Part(o, target).Objects) {
				smaller++
			}
			whole := effectOn(t, snap, target, o)
			if whole.Outcome == report.Deleted {
				taken++
			}
			about := effectOn(t, part, target, o)
			// In the whole, other objects may wait for the same finalizers.
			if !slices.ContainsFunc(about.Once, func(r report.Release) bool { return !slices.Contains(whole.Once, r) }) && (len(about.Once) > 0) == (len(whole.Once) > 0) {
				about.Once = whole.Once
			}
			if diff := cmp.Diff(whole, about); diff != "" {
				t.Fatalf("delete of %s, on %s (-whole +part):\n%s\nin\n%s\npart\n%s", o.Ref, target.Ref, diff, text(snap), text(part))
			}
		}
	})
	if smaller == 0 || taken == 0 {
		t.Errorf("%d parts were smaller, %d objects were taken", smaller, taken)
	}
}

// effectOn returns what decides whether an object takes another one along.
func effectOn(t *rapid.T, snap *snapshot.Snapshot, target, deleted *object.Object) report.Effect {
	e, err := plan.EffectOn(t.Context(), snap, plan.DeleteSeed(engine.Background, deleted.Ref), target, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report.Effect{Outcome: e.Outcome, Later: e.Later, Once: e.Once, AlreadyHappening: e.AlreadyHappening && e.Outcome != report.Deleted}
}

// TestPartOfWhatNobodyLooksAt: an unknown owner may stop keeping an object that another owner has
// orphaned, whether or not the collector has a reason to consider it. In the whole it has: another
// dependent makes it look for the first owner elsewhere.
func TestPartOfWhatNobodyLooksAt(t *testing.T) {
	const world = `networking.k8s.io/v1 IPAddress x owners=u0,example.org/v1:Unknown:y:y,u1
rbac.authorization.k8s.io/v1 ClusterRole o0 uid=u0
rbac.authorization.k8s.io/v1 ClusterRole o1 uid=u1
`
	for _, text := range []string{world, world + "apps/v1 ReplicaSet n/r owners=u0\n"} {
		snap := parsed(t, text)
		o := snap.FindKind(object.ClusterRole, "", "o1")
		for _, part := range []*snapshot.Snapshot{snap, mapped(snap).Part(o)} {
			result, err := plan.Simulate(t.Context(), part, plan.DeleteSeed(engine.OrphanPolicy, o.Ref), plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(result.Plan.Effects, func(e report.Effect) bool { return e.Object.Name == "x" })
			if i < 0 || result.Plan.Effects[i].Outcome != report.Unknown {
				t.Errorf("of %d objects: %+v", len(part.Objects), result.Plan.Effects)
			}
		}
	}
}

// TestPolicyOfContainers: the delete of a container without dependents has the same effects under
// every policy.
func TestPolicyOfContainers(t *testing.T) {
	met := 0
	rapid.Check(t, func(t *rapid.T) {
		snap := drawReach(t)
		m := mapped(snap)
		for _, o := range snap.Objects {
			if !m.IgnoresPolicy(o) {
				continue
			}
			met++
			background := caused(t, snap, o, engine.Background)
			for _, policy := range policies[1:] {
				if diff := cmp.Diff(background, caused(t, snap, o, policy)); diff != "" {
					t.Fatalf("delete of %s (-Background +%s):\n%s\nin\n%s", o.Ref, policy, diff, text(snap))
				}
			}
		}
	})
	if met == 0 {
		t.Error("there was no such container")
	}
}

func text(snap *snapshot.Snapshot) string { return scenario.World{Objects: snap.Objects}.String() }

// TestInto: Into returns exactly the objects that lead to one.
func TestInto(t *testing.T) {
	ways := 0
	rapid.Check(t, func(t *rapid.T) {
		snap := drawReach(t)
		m := mapped(snap)
		to := rapid.SampledFrom(snap.Objects).Draw(t, "to")
		into := m.Reaching(to)
		for _, from := range snap.Objects {
			if from != to && into.Has(from) {
				ways++
			}
			if there := m.ReachableFrom(from).Has(to); there != into.Has(from) {
				t.Fatalf("from %s one comes to %s: %v, and the other way round: %v; in\n%s", from.Ref, to.Ref, there, into.Has(from), scenario.World{Objects: snap.Objects}.String())
			}
		}
	})
	if ways == 0 {
		t.Error("there was no way")
	}
}
