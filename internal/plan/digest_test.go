package plan_test

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestDigest changes a cluster between two plans of the delete of a in namespace n. The digest
// changes with everything that affects the request, and with nothing else.
func TestDigest(t *testing.T) {
	const before = "v1 ConfigMap n/a\nv1 Secret n/b owners=a\nv1 Secret n/c owners=a,k\nv1 ConfigMap n/k\nv1 ConfigMap n/other\n"
	version := func(name string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			i := slices.IndexFunc(s.Objects, func(o *object.Object) bool { return o.Name == name })
			s.Objects[i].ResourceVersion += "0"
		}
	}
	gap := func(namespace string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Gaps = append(s.Gaps, snapshot.Gap{APIVersion: "apps/v1", Resource: "statefulsets", Namespace: namespace, Why: "Forbidden: no"})
		}
	}
	for _, tt := range []struct {
		name, world string
		change      func(*snapshot.Snapshot)
		same        bool
	}{
		{name: "nothing", same: true},
		{name: "garbage of another namespace", world: "v1 Secret m/g owners=v1:ConfigMap:gone:z", same: true},
		{name: "garbage of this namespace", world: "v1 Secret n/g owners=v1:ConfigMap:gone:z", same: true},
		{name: "a deletion under way", world: "v1 Secret m/g fin=foregroundDeletion deleting grace=0", same: true},
		{name: "an object that nothing concerns", world: "v1 Secret n/x", same: true},
		{name: "an object that nothing concerns, changed", change: version("other"), same: true},
		{name: "the owner that keeps one, changed", change: version("k"), same: true},
		{name: "one that stays and loses a reference, changed", change: version("c"), same: true},
		{name: "the target, changed", change: version("a"), same: true},
		{name: "one that goes, changed", change: version("b"), same: true},
		{name: "a Lease of it", world: "coordination.k8s.io/v1 Lease n/x owners=a", same: true},
		{name: "one more goes", world: "v1 Secret n/x owners=a"},
		{name: "one more is blocked", world: "v1 Secret n/x owners=a fin=x/y"},
		{name: "a kind of this namespace that was not seen", change: gap("n")},
		{name: "a kind of another namespace that was not seen", change: gap("m"), same: true},
		{name: "the same beside garbage there", world: "v1 Secret m/g owners=v1:ConfigMap:gone:z", change: gap("m"), same: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, policy := range []engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy} {
				was := digestOf(t, world(t, before), policy)
				now := world(t, before+tt.world)
				if tt.change != nil {
					tt.change(now)
				}
				if got := digestOf(t, now, policy) == was; got != tt.same {
					t.Errorf("%s: the same digest: %v, want %v", policy, got, tt.same)
				}
			}
		})
	}
}

func digestOf(t *testing.T, snap *snapshot.Snapshot, policy engine.Policy) string {
	t.Helper()
	i := slices.IndexFunc(snap.Objects, func(o *object.Object) bool { return o.Name == "a" })
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(policy, snap.Objects[i].Ref), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan.Digest
}

// TestDigestOfACollection checks that the digest of a collection in one namespace ignores garbage
// in another one, and changes with more garbage in its own.
func TestDigestOfACollection(t *testing.T) {
	const before = "v1 ConfigMap n/a owners=v1:ConfigMap:gone:z\n"
	digest := func(text string) string {
		only := func(o *object.Object, _ bool) reason.Code {
			if o.Namespace != "n" {
				return reason.NotAskedFor
			}
			return ""
		}
		result, err := plan.Simulate(t.Context(), world(t, text), plan.CollectSeed(), plan.Options{Keep: only})
		if err != nil {
			t.Fatal(err)
		}
		return result.Plan.Digest
	}
	was := digest(before)
	for text, same := range map[string]bool{
		"v1 ConfigMap m/x owners=v1:ConfigMap:gone:y":          true,
		"v1 ConfigMap m/x fin=x/y deleting grace=0":            true,
		"v1 ConfigMap m/x owners=apps/v1:StatefulSet:unseen:y": true,
		"v1 ConfigMap n/b owners=v1:ConfigMap:gone:y":          false,
		"v1 ConfigMap n/b owners=v1:ConfigMap:gone:y fin=x/y":  false,
		"v1 ConfigMap n/b owners=apps/v1:StatefulSet:unseen:y": true,
		"v1 ConfigMap n/b": true,
		"v1 ConfigMap n/b\nv1 ConfigMap n/d owners=b": true,
	} {
		if got := digest(before+text) == was; got != same {
			t.Errorf("with %q the same digest: %v, want %v", text, got, same)
		}
	}
}

// TestDigestOfANamespace checks that the Events and Leases in a deleted namespace do not change the
// digest, because they are short-lived, and that everything else does.
func TestDigestOfANamespace(t *testing.T) {
	const before = "v1 Namespace a phase=Active spec=kubernetes\nv1 ConfigMap a/x\nv1 Event a/event\n"
	was := digestOf(t, world(t, before), engine.Background)
	for text, same := range map[string]bool{
		"v1 Event a/another":                    true,
		"events.k8s.io/v1 Event a/another":      true,
		"coordination.k8s.io/v1 Lease a/leader": true,
		"v1 ConfigMap a/another":                false,
	} {
		after := world(t, before+text)
		if got := digestOf(t, after, engine.Background) == was; got != same {
			t.Errorf("with %q the same digest: %v, want %v", text, got, same)
		}
	}
}

// TestDigestOfRequests checks that the digest changes with the request, with what is known about
// the controllers of finalizers, and with each flag that weakens a guard.
func TestDigestOfRequests(t *testing.T) {
	snap := world(t, "v1 ConfigMap n/a fin=x/runs,x/y deleting grace=0\nv1 ConfigMap n/b fin=x/runs\nv1 Secret n/c owners=b\nv1 ConfigMap n/d fin=x/runs,x/y")
	digest := func(seed plan.Seed, o plan.Options) string {
		result, err := plan.Simulate(t.Context(), snap, seed, o)
		if err != nil {
			t.Fatal(err)
		}
		return result.Plan.Digest
	}
	// An object that is not being deleted only loses its finalizers.
	live := func(names ...string) plan.Seed { return plan.RemoveFinalizerSeed(names, find(snap, "d")) }
	take := func(names ...string) plan.Seed {
		return plan.Seed{Verb: plan.RemoveFinalizer, Finalizers: names, Targets: []object.Ref{find(snap, "a")}}
	}
	b := plan.DeleteSeed(engine.Background, find(snap, "b"))
	seen := map[string]string{}
	for name, d := range map[string]string{
		"x/runs":         digest(take("x/runs"), plan.Options{}),
		"x/y":            digest(take("x/y"), plan.Options{}),
		"x/runs of d":    digest(live("x/runs"), plan.Options{}),
		"x/y of d":       digest(live("x/y"), plan.Options{}),
		"b":              digest(b, plan.Options{}),
		"without a copy": digest(b, plan.Options{Guards: []string{"no-backup"}}),
		"protected":      digest(b, plan.Options{Guards: []string{"unlock"}}),
		"gone":           digest(b, plan.Options{Controller: runs(map[string]string{"x/runs": "gone"})}),
	} {
		if other, same := seen[d]; same {
			t.Errorf("%s and %s have the same digest", name, other)
		}
		seen[d] = name
	}
}
