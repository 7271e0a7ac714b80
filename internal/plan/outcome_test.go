package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestOutcomes checks worlds that are easy to misjudge. All of them cover everything except
// StatefulSets.
func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name, world, targets string
		policy               engine.Policy
		// whole makes the snapshot cover StatefulSets too.
		whole bool
		want  string
	}{
		{
			name: "terminating before, and gone because of the request", whole: true,
			world:   "v1 Secret n/s owners=c! fin=foregroundDeletion deleting grace=0\nv1 ConfigMap n/c\nv1 ConfigMap n/d owners=s!,c",
			targets: "c", policy: engine.Background,
			want: "Deleted Requested c; Deleted NoExistingOwner d; Deleted NoBlockingDependents s (before)",
		},
		{
			name:    "one target takes the other",
			world:   "v1 ConfigMap n/a\nv1 ConfigMap n/b owners=a!",
			targets: "a b", policy: engine.ForegroundPolicy,
			want: "Deleted Requested a; Deleted Requested b",
		},
		{
			name:    "a target that is garbage already",
			world:   "v1 ConfigMap n/a\nv1 ConfigMap n/b owners=v1:ConfigMap:gone:g",
			targets: "b", policy: engine.Background,
			want: "Deleted Requested b",
		},
		{
			name:    "two objects with one uid are two",
			world:   "v1 ConfigMap n/a uid=x\nv1 Secret n/b uid=x\nv1 ConfigMap n/c owners=v1:ConfigMap:a:x",
			targets: "a", policy: engine.Background,
			want: "Unknown SharedUID a; Unknown SharedUID c",
		},
		{
			name:    "of two objects with one uid one is kept by what is blocked",
			world:   "v1 ConfigMap n/a fin=x/y\nv1 Secret n/b uid=x owners=a\nv1 ConfigMap n/c uid=x fin=x/y deleting grace=0",
			targets: "a", policy: engine.Background,
			want: "Blocked FinalizerRemains a; Unknown SharedUID c",
		},
		{
			name:    "which of two objects with one uid blocks is not known",
			world:   "v1 ConfigMap n/a\nv1 Secret n/b uid=x owners=v1:ConfigMap:a:a!,k\nv1 ConfigMap m/c uid=x\nv1 ConfigMap n/k",
			targets: "a", policy: engine.ForegroundPolicy,
			want: "Unknown DependentUnknown a",
		},
		{
			name:    "which of two objects with one uid is orphaned is not known",
			world:   "v1 ConfigMap n/a\nv1 Secret n/b uid=x rv=7 owners=v1:ConfigMap:a:a\nexample.com/v1 Gadget c uid=x owners=d\nexample.com/v1 Gadget d",
			targets: "a", policy: engine.OrphanPolicy,
			want: "Unknown SharedUID a; Unknown SharedUID c",
		},
		{
			name: "what is being deleted and shares its uid is not known to stay until a finalizer is removed", whole: true,
			world:   "apps/v1 ReplicaSet n/o10 uid=u10 rv=11 owners=u5!,u6\napps/v1 ReplicaSet n/o11 uid=u4 rv=12 deleting grace=0 fin=orphan\napps/v1 ReplicaSet n/o15 uid=u15 rv=16 owners=v1:ConfigMap:o4:u4\napps/v1 ReplicaSet n/o9 uid=u9 rv=10 owners=v1:ConfigMap:o1:u1!f,u0!f^\nexample.com/v1 Gadget o0 uid=u0 rv=1 deleting grace=0 fin=foregroundDeletion\nrbac.authorization.k8s.io/v1 ClusterRole o12 uid=u1 rv=13 owners=example.com/v1:gadget:o0:u0!^ fin=example.com/hold\nrbac.authorization.k8s.io/v1 ClusterRole o13 uid=u13 rv=14 owners=u0!^\nrbac.authorization.k8s.io/v1 ClusterRole o5 uid=u5 rv=6\nrbac.authorization.k8s.io/v1 ClusterRole o7 uid=u7 rv=8\nv1 ConfigMap m/o8 uid=u0 rv=9 owners=rbac.authorization.k8s.io/v1:clusterrole:o7:u7!^,u5,v1:ConfigMap:o4:u4!\nv1 ConfigMap n/o1 uid=u1 rv=2 owners=u0\nv1 ConfigMap n/o4 uid=u4 rv=5\nv1 ConfigMap n/o6 uid=u6 rv=7 owners=v1:ConfigMap:o1:u1,u0",
			targets: "o7", policy: engine.ForegroundPolicy,
			want: "Unknown SharedUID o11; Unknown SharedUID o12 (before); Unknown SharedUID o13 (before); Unknown SharedUID o15 (before); Unknown SharedUID o6 (before); Unknown DependentUnknown o7; Unknown SharedUID o9 (before)",
		},
		{
			name:    "a reference to what may have stayed was dropped before its owner went",
			world:   "v1 ConfigMap n/a\nv1 Secret n/x uid=s\nv1 Service n/y uid=s\nv1 ConfigMap n/g owners=v1:Secret:gone:s\nv1 Secret n/d owners=g,a",
			targets: "a", policy: engine.Background,
			want: "Deleted Requested a; Unknown OwnerUnknown d; Unknown SharedUID g (before)",
		},
		{
			name:    "an owner that is waited for by nobody goes, its dependent of two owners is unknown",
			world:   "v1 ConfigMap n/a\nv1 Secret n/b owners=a,apps/v1:StatefulSet:w:w\nv1 Secret n/c owners=b\nv1 Secret n/d owners=b,e\nv1 Secret n/e",
			targets: "a", policy: engine.ForegroundPolicy,
			want: "Deleted Requested a; Unknown OwnerNotCovered b; Unknown OwnerUnknown c",
		},
		{
			name:    "a foreground owner waits for what is unknown",
			world:   "v1 ConfigMap n/a\nv1 Secret n/b owners=a!,apps/v1:StatefulSet:w:w",
			targets: "a", policy: engine.ForegroundPolicy,
			want: "Unknown DependentUnknown a; Unknown OwnerNotCovered b",
		},
		{
			name:    "what certainly blocks beats what is unknown",
			world:   "v1 ConfigMap n/a\nv1 Secret n/b owners=a!,apps/v1:StatefulSet:w:w\nv1 Secret n/c owners=a! fin=x/y",
			targets: "a", policy: engine.ForegroundPolicy,
			want: "Blocked BlockingDependents a; Unknown OwnerNotCovered b; Blocked FinalizerRemains c",
		},
		{
			name:    "what is unknown anyway is no effect of the request",
			world:   "v1 ConfigMap n/a\nv1 ConfigMap n/g fin=x/y deleting grace=0\nv1 Secret n/b owners=v1:ConfigMap:gone:z,apps/v1:StatefulSet:w:w",
			targets: "a", policy: engine.Background,
			want: "Deleted Requested a",
		},
		{
			name:    "orphaning keeps what another owner keeps too",
			world:   "v1 ConfigMap n/a\nv1 ConfigMap n/k\nv1 Secret n/b owners=a,k\nv1 Secret n/c owners=a",
			targets: "a", policy: engine.OrphanPolicy,
			want: "Deleted Requested a; Orphaned OrphanDependents b; Orphaned OrphanDependents c",
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
			result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(tt.policy, targets...), plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range result.Plan.Effects {
				line := fmt.Sprintf("%s %s %s", e.Outcome, e.Reason, e.Object.Name)
				if e.AlreadyHappening {
					line += " (before)"
				}
				got = append(got, line)
			}
			slices.SortFunc(got, func(a, b string) int {
				return strings.Compare(strings.Fields(a)[2], strings.Fields(b)[2])
			})
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// world returns a snapshot that covers everything except StatefulSets.
func world(t *testing.T, text string) *snapshot.Snapshot {
	t.Helper()
	return worldWithout(t, text, "StatefulSet")
}

// worldWithout returns a snapshot that covers all kinds except one.
func worldWithout(t *testing.T, text, kind string) *snapshot.Snapshot {
	t.Helper()
	objects, err := scenario.ParseWorld(text, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	coverage := &snapshot.Coverage{}
	for _, r := range scenario.Resources().All() {
		if r.Kind != kind {
			coverage.Add(r.GroupResource(), "")
		}
	}
	snap, err := snapshot.New(objects, scenario.Resources(), coverage, snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// TestDeletionsUnderWayAreAssumedToGoOn checks that the plan assumes that a running collector has
// not missed the start of a deletion. It might have missed it forever. (Q20, Q26)
func TestDeletionsUnderWayAreAssumedToGoOn(t *testing.T) {
	under := func(finalizers ...string) *object.Object {
		return &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a", UID: "a"}, ResourceVersion: "1",
			Lifecycle: &object.Lifecycle{DeletionTimestamp: 5, Finalizers: finalizers}}
	}
	for _, tt := range []struct {
		name    string
		o       *object.Object
		assumed bool
	}{
		{"in the foreground", under(object.Foreground), true},
		{"orphaning", under(object.Orphan), true},
		{"held by somebody else as well", under(object.Foreground, "example.com/hold"), true},
		{"held by somebody else alone", under("example.com/hold"), false},
	} {
		result, err := plan.Simulate(t.Context(), wholeSnapshot(t, tt.o), plan.CollectSeed(), plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(result.Plan.Effects) == 1 && len(result.Plan.Effects[0].Assumptions) > 0; got != tt.assumed {
			t.Errorf("%s: assumed %v, want %v: %+v", tt.name, got, tt.assumed, result.Plan.Effects)
		}
	}
}

// TestStrictAssumesWhatWasNotSeen checks that strict rules keep an object that refers to a UID that
// exists elsewhere. An unseen object may have that UID, unless the owner was seen before it was
// deleted. (spec W3)
func TestStrictAssumesWhatWasNotSeen(t *testing.T) {
	const garbage = "v1 ConfigMap n/b owners=v1:ConfigMap:gone:z\nv1 ConfigMap n/c owners=v1:ConfigMap:gone:z,k\nv1 ConfigMap n/k\nv1 ConfigMap n/d owners=b"
	assumed := func(snap *snapshot.Snapshot, rules engine.Rules) string {
		result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{Rules: rules})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range result.Plan.Effects {
			if len(e.Assumptions) > 0 {
				names = append(names, e.Object.Name)
			}
		}
		return strings.Join(names, " ")
	}
	part := world(t, garbage)
	if got := assumed(part, engine.Strict); got != "b c" {
		t.Errorf("of a part: assumed of %q, want b and c: d was seen to lose its owner", got)
	}
	if got := assumed(part, engine.Upstream); got != "" {
		t.Errorf("upstream looks beside the dependent only: assumed of %q", got)
	}
	if got := assumed(wholeSnapshot(t, part.Objects...), engine.Strict); got != "" {
		t.Errorf("everything was seen: assumed of %q", got)
	}
}
