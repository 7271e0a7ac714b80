package plan_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestRemoveFinalizer checks the effects of the removal of finalizers.
func TestRemoveFinalizer(t *testing.T) {
	const deleting = " deleting grace=0"
	for _, tt := range []struct {
		name, world, targets string
		finalizers           string
		want                 string
		// whole makes the snapshot cover StatefulSets too.
		whole bool
	}{
		{
			name:    "the last finalizer: gone with the request",
			world:   "v1 ConfigMap n/a fin=x/y" + deleting,
			targets: "a", finalizers: "x/y",
			want: "Deleted FinalizerTaken a: nothing else holds it: deleted immediately",
		},
		{
			name:    "one of two: the other holds",
			world:   "v1 ConfigMap n/a fin=x/y,x/z" + deleting,
			targets: "a", finalizers: "x/y",
			want: "Blocked FinalizerRemains a: held by finalizer x/z",
		},
		{
			name:    "both, in whatever order they are named",
			world:   "v1 ConfigMap n/a fin=x/y,x/z" + deleting,
			targets: "a", finalizers: "x/z,x/y",
			want: "Deleted FinalizerTaken a: nothing else holds it: deleted immediately",
		},
		{
			name:    "dependents go with what is released",
			world:   "v1 ConfigMap n/a fin=x/y" + deleting + "\nv1 Secret n/b owners=a",
			targets: "a", finalizers: "x/y",
			want: "Deleted FinalizerTaken a: nothing else holds it: deleted immediately; " +
				"Deleted NoExistingOwner b: goes with its owner cm/a",
		},
		{
			name:    "dependents of what stays held stay",
			world:   "v1 ConfigMap n/a fin=x/y,x/z" + deleting + "\nv1 Secret n/b owners=a",
			targets: "a", finalizers: "x/y",
			want: "Blocked FinalizerRemains a: held by finalizer x/z; Kept ExistingOwner b: kept by cm/a; goes when x/z of cm/a is removed",
		},
		{
			name:    "without orphan what was to be orphaned is collected, unless the garbage collector is quicker (S138, Q8)",
			world:   "v1 ConfigMap n/a fin=orphan" + deleting + "\nv1 Secret n/b owners=a\nv1 Secret n/c owners=b",
			targets: "a", finalizers: "orphan",
			want: "Deleted FinalizerTaken a: nothing else holds it: deleted immediately; " +
				"Deleted NoExistingOwner b: goes with its owner cm/a (depends on timing) (contested); " +
				"Deleted NoExistingOwner c: goes with its owner secret/b (depends on timing) (contested)",
		},
		{
			name:    "without foregroundDeletion the owner goes at once, and what blocked it stays",
			world:   "v1 ConfigMap n/a fin=foregroundDeletion" + deleting + "\nv1 Secret n/b owners=a! fin=x/y" + deleting,
			targets: "a", finalizers: "foregroundDeletion",
			want: "Deleted FinalizerTaken a: nothing else holds it: deleted immediately",
		},
		{
			name: "the garbage collector ends what the finalizer kept it from ending", whole: true,
			world:   "v1 ConfigMap n/a fin=foregroundDeletion" + deleting + "\nv1 Secret n/b owners=a! fin=x/y" + deleting,
			targets: "b", finalizers: "x/y",
			want: "Deleted NoBlockingDependents a: is already being deleted, and nothing holds it any longer; " +
				"Deleted FinalizerTaken b: nothing else holds it: deleted immediately",
		},
		{
			name: "what waited for the object is closer to its end", whole: true,
			world:   "v1 ConfigMap n/a fin=x/z,foregroundDeletion" + deleting + "\nv1 Secret n/b owners=a! fin=x/y" + deleting,
			targets: "b", finalizers: "x/y",
			want: "Blocked FinalizerRemains a: held by finalizer x/z; " +
				"Deleted FinalizerTaken b: nothing else holds it: deleted immediately",
		},
		{
			name:    "what is garbage anyway is told apart, what stays anyway is not told",
			world:   "v1 ConfigMap n/a fin=x/y" + deleting + "\nv1 Secret n/b owners=v1:ConfigMap:gone:g\nv1 Secret n/c fin=x/z" + deleting + "\nv1 Secret n/d owners=c",
			targets: "a", finalizers: "x/y",
			want: "Deleted FinalizerTaken a: nothing else holds it: deleted immediately; " +
				"Deleted NoExistingOwner b: its owner cm/gone does not exist (before)",
		},
		{
			name:    "an object that is not being deleted stays",
			world:   "v1 ConfigMap n/a fin=x/y\nv1 Secret n/b owners=a",
			targets: "a", finalizers: "x/y",
			want: "Kept FinalizerTaken a: loses the finalizer and stays: it is not being deleted",
		},
		{
			name:    "a dependent of an owner that is not seen stays unknown",
			world:   "v1 ConfigMap n/a fin=x/y" + deleting + "\nv1 Secret n/b owners=a,apps/v1:StatefulSet:w:w",
			targets: "a", finalizers: "x/y",
			want: "Deleted FinalizerTaken a: nothing else holds it: deleted immediately; " +
				"Unknown OwnerNotCovered b: unknown whether sts/w exists: no list of it was seen",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			snap := world(t, tt.world)
			if tt.whole {
				snap = worldWithout(t, tt.world, "")
			}
			var targets []object.Ref
			for name := range strings.FieldsSeq(tt.targets) {
				i := slices.IndexFunc(snap.Objects, func(o *object.Object) bool { return o.Name == name })
				targets = append(targets, snap.Objects[i].Ref)
			}
			seed := plan.RemoveFinalizerSeed(strings.Split(tt.finalizers, ","), targets...)
			result, err := plan.Simulate(t.Context(), snap, seed, plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range result.Plan.Effects {
				line := fmt.Sprintf("%s %s %s: %s", e.Outcome, e.Reason, e.Object.Name, e.Message)
				if e.DependsOnTiming {
					line += " (contested)"
				}
				if e.AlreadyHappening {
					line += " (before)"
				}
				got = append(got, line)
			}
			slices.SortFunc(got, func(a, b string) int { return strings.Compare(strings.Fields(a)[2], strings.Fields(b)[2]) })
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.finalizers, strings.Join(result.Plan.Seed.Finalizers, ",")); diff != "" || result.Plan.Seed.Verb != "removeFinalizer" {
				t.Errorf("seed %+v", result.Plan.Seed)
			}
		})
	}
}

// TestRemoveFinalizerDigest checks that the digest of a plan depends on the removed finalizers.
func TestRemoveFinalizerDigest(t *testing.T) {
	snap := world(t, "v1 ConfigMap n/a fin=x/y,x/z deleting grace=0")
	digest := func(finalizers ...string) string {
		result, err := plan.Simulate(t.Context(), snap, plan.RemoveFinalizerSeed(finalizers, snap.Objects[0].Ref), plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return result.Plan.Digest
	}
	if y, again := digest("x/y"), digest("x/y"); y != again || y == digest("x/z") {
		t.Error("the digest does not tell the finalizers apart")
	}
}

// TestRemoveFinalizerOfNamespace checks that a namespace is deleted when the finalizer of its spec
// is removed, whatever it contains.
func TestRemoveFinalizerOfNamespace(t *testing.T) {
	snap := world(t, "v1 Namespace stuck deleting grace=0\nv1 ConfigMap stuck/left fin=x/y")
	result, err := plan.Simulate(t.Context(), snap, plan.RemoveFinalizerSeed([]string{"kubernetes"}, snap.Find("v1", "Namespace", "", "stuck").Ref), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	steps := result.Plan.Steps
	if len(steps) == 0 || steps[0].Verb != "PUT" || steps[0].Actor != "user" {
		t.Errorf("steps %+v, want a PUT of the user first", steps)
	}
	for _, e := range result.Plan.Effects {
		if e.Object.Kind == "Namespace" && e.Outcome != report.Deleted {
			t.Errorf("%s %s", e.Outcome, e.Message)
		}
	}
}

// TestGuardRefusesJSONPatches checks that a collector must not send JSON patches.
func TestGuardRefusesJSONPatches(t *testing.T) {
	snap := world(t, "v1 ConfigMap n/a fin=x/y deleting grace=0\nv1 Secret n/b owners=v1:ConfigMap:gone:g")
	result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	guard := result.Guard(nothing{})
	for _, o := range snap.Objects {
		if err := guard.Patch(t.Context(), o.Ref, object.TakeFinalizers(o, []string{"x/y"})); err == nil {
			t.Errorf("%s: let through", o.Ref)
		}
	}
}

// nothing is an API that accepts everything.
type nothing struct{ engine.API }

func (nothing) Patch(context.Context, object.Ref, object.Patch) error          { return nil }
func (nothing) Delete(context.Context, object.Ref, metav1.DeleteOptions) error { return nil }

// TestTakingHasNoPartElsewhere checks that dependents of an object that is blocked without the
// request too do not count as staying because of it.
func TestTakingHasNoPartElsewhere(t *testing.T) {
	objects, err := scenario.ParseWorld("v1 ConfigMap n/a fin=x/y deleting grace=0\nv1 ConfigMap m/garbage owners=v1:ConfigMap:gone:g fin=x/z\nv1 Secret m/below owners=garbage", scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Simulate(t.Context(), snap, plan.RemoveFinalizerSeed([]string{"x/y"}, find(snap, "a")), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if stays := result.Stays(); len(stays) > 0 {
		t.Errorf("it is compared with %v", stays)
	}
}
