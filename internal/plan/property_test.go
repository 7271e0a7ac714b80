package plan_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// drawSnapshot draws a world and its coverage.
func drawSnapshot(t *rapid.T) *snapshot.Snapshot {
	w := scenario.DrawWorld(t, scenario.Wild)
	coverage := &snapshot.Coverage{}
	if rapid.Bool().Draw(t, "whole") {
		coverage = snapshot.CoversEverything()
	} else {
		for _, r := range scenario.Resources().All() {
			switch rapid.IntRange(0, 2).Draw(t, "covered") {
			case 0:
				coverage.Add(r.GroupResource(), "")
			case 1:
				coverage.Add(r.GroupResource(), "n")
			}
		}
	}
	return w.Snapshot(t, coverage)
}

// drawSeed draws a request in a world that is not empty.
func drawSeed(t *rapid.T, snap *snapshot.Snapshot) plan.Seed {
	if rapid.IntRange(0, 3).Draw(t, "collect") == 0 {
		return plan.CollectSeed()
	}
	policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
	var targets []object.Ref
	for range rapid.IntRange(1, 3).Draw(t, "targets") {
		targets = append(targets, rapid.SampledFrom(snap.Objects).Draw(t, "target").Ref)
	}
	return plan.DeleteSeed(policy, targets...)
}

func simulate(t *rapid.T, snap *snapshot.Snapshot, seed plan.Seed, o plan.Options) *plan.Result {
	result, err := plan.Simulate(t.Context(), snap, seed, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestSameInputSameBytes checks that a plan is a function of its input, and does not change it.
func TestSameInputSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := drawSnapshot(t)
		seed := drawSeed(t, snap)
		options := plan.Options{Explore: rapid.IntRange(0, 2).Draw(t, "explore"), Record: plan.RecordOf(rapid.Bool().Draw(t, "steps"), rapid.Bool().Draw(t, "reads"))}
		var before []*object.Object
		for _, o := range snap.Objects {
			before = append(before, o.Clone())
		}
		first, second := simulate(t, snap, seed, options), simulate(t, snap, seed, options)
		a, err := json.Marshal(first.Plan)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(second.Plan)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(a), string(b)); diff != "" {
			t.Fatalf("two plans differ (-first +second):\n%s", diff)
		}
		if diff := cmp.Diff(before, snap.Objects, cmp.AllowUnexported(object.Object{})); diff != "" {
			t.Fatalf("the snapshot has changed (-before +after):\n%s", diff)
		}
	})
}

// TestEffectsAreWhatHappened checks that every object that changes in storage has exactly one
// effect, and that the outcome agrees with the objects afterwards. Unknown agrees with anything.
func TestEffectsAreWhatHappened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := drawSnapshot(t)
		result := simulate(t, snap, drawSeed(t, snap), plan.Options{})
		effects := map[object.Ref]report.Effect{}
		for _, e := range result.Plan.Effects {
			if _, twice := effects[e.Object]; twice {
				t.Fatalf("two effects on %v", e.Object)
			}
			effects[e.Object] = e
		}
		if !slices.IsSortedFunc(result.Plan.Effects, func(a, b report.Effect) int {
			return object.Compare(a.Object, b.Object)
		}) {
			t.Fatal("effects are not sorted")
		}
		after := map[object.Ref]*object.Object{}
		for _, o := range result.After() {
			after[o.Ref] = o
		}
		for _, o := range snap.Objects {
			e, has := effects[o.Ref]
			last := after[o.Ref]
			changed := last == nil || last.BeingDeleted() != o.BeingDeleted() ||
				!slices.Equal(last.Owners, o.Owners) || !slices.Equal(last.Finalizers(), o.Finalizers())
			if changed && !has {
				t.Fatalf("%s changed and has no effect", o.Ref)
			}
			if has && e.Outcome != report.Unknown && !fits(e, last) {
				t.Fatalf("%s: %s, but afterwards it is %v", o.Ref, e.Outcome, last)
			}
			if has && e.Message == "" {
				t.Fatalf("%s: no message", o.Ref)
			}
		}
	})
}

func fits(e report.Effect, last *object.Object) bool {
	switch {
	case last == nil:
		return e.Outcome == report.Deleted
	case last.BeingDeleted():
		return e.Outcome == report.Blocked
	default:
		return e.Outcome == report.Kept || e.Outcome == report.Pruned || e.Outcome == report.Orphaned
	}
}

// TestNothingUnknownIsDeleted checks that no deletion depends on an owner that the snapshot does
// not cover, or that has an unknown outcome itself.
func TestNothingUnknownIsDeleted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := drawSnapshot(t)
		seed := drawSeed(t, snap)
		p := simulate(t, snap, seed, plan.Options{}).Plan
		unknown, seen := map[types.UID]bool{}, map[types.UID]*object.Object{}
		for _, e := range p.Effects {
			// An object that waits for an unknown one, or perhaps for one that was not read, has been
			// deleted nevertheless.
			waits := e.Reason == string(reason.DependentUnknown) || e.Reason == string(reason.DependentsNotCovered)
			open := e.Outcome == report.Unknown && !waits
			unknown[e.Object.UID] = unknown[e.Object.UID] || open
		}
		for _, o := range snap.Objects {
			seen[o.UID] = o
		}
		for _, e := range p.Effects {
			o := snap.Find(e.Object.APIVersion, e.Object.Kind, e.Object.Namespace, e.Object.Name)
			if e.Outcome != report.Deleted || slices.Contains(seed.Targets, o.Ref) || o.BeingDeleted() {
				continue
			}
			for _, ref := range o.Owners {
				if owner := seen[ref.UID]; unknown[ref.UID] && names(ref, owner, o.Namespace) {
					t.Fatalf("%s is deleted, the outcome of its owner %s is unknown in\n%s", o.Ref, ref.Name, scenario.World{Objects: snap.Objects})
				}
				if seen[ref.UID] == nil && !covered(snap, ref, o.Namespace) {
					t.Fatalf("%s is deleted, its owner %s is not covered", o.Ref, ref.Name)
				}
			}
		}
	})
}

// TestCollectWritesToNothingUnknown checks that our own collector writes only to objects that the
// plan says are deleted or lose references, and to none that is unknown. (spec I5)
func TestCollectWritesToNothingUnknown(t *testing.T) {
	writes, unknown := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		snap := drawSnapshot(t)
		options := plan.Options{Rules: engine.Strict, Explore: rapid.IntRange(0, 2).Draw(t, "explore")}
		result := simulate(t, snap, plan.CollectSeed(), options)
		effects := map[object.Ref]report.Effect{}
		for _, e := range result.Plan.Effects {
			effects[e.Object] = e
			if e.Outcome == report.Unknown {
				unknown++
			}
		}
		for _, w := range result.Writes() {
			writes++
			if e, ok := effects[w.Object]; !ok || e.Outcome == report.Unknown {
				t.Fatalf("the plan writes to %s, of which it says: %s %s", w.Object, e.Outcome, e.Reason)
			}
		}
		after := map[object.Ref]*object.Object{}
		for _, o := range result.After() {
			after[o.Ref] = o
		}
		for _, o := range snap.Objects {
			if e := effects[o.Ref]; e.Outcome == report.Unknown && !o.BeingDeleted() && (after[o.Ref] == nil || after[o.Ref].BeingDeleted()) {
				t.Fatalf("%s: %s, and it has been deleted", o.Ref, e.Reason)
			}
		}
	})
	if writes == 0 || unknown == 0 {
		t.Errorf("%d writes and %d unknown outcomes: the property shows nothing", writes, unknown)
	}
}

// names reports whether a reference has the coordinates of the object with its UID.
func names(ref object.OwnerReference, owner *object.Object, namespace string) bool {
	return ref.Name == owner.Name && strings.EqualFold(ref.Kind, owner.Kind) && ref.APIVersion == owner.APIVersion &&
		(owner.Namespace == "" || owner.Namespace == namespace)
}

// covered reports whether the snapshot shows that the owner does not exist.
func covered(snap *snapshot.Snapshot, ref object.OwnerReference, namespace string) bool {
	r, err := snap.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return false
	}
	return !r.Served() || snap.Covers(r, namespace)
}
