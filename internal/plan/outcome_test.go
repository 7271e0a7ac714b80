package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
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
			want: "Unknown SharedUID o0; Unknown SharedUID o11; Unknown SharedUID o12 (before); Unknown SharedUID o13 (before); Unknown SharedUID o15 (before); Unknown SharedUID o6 (before); Unknown DependentUnknown o7; Unknown SharedUID o9 (before)",
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

// TestAdoption checks that the plan assumes that no controller adopts an orphaned object, if one
// could or might be able to, and only then.
//
// Covers: S243
func TestAdoption(t *testing.T) {
	const set = "apps/v1 ReplicaSet s/first\n"
	const pod = set + "v1 Pod s/p owners=first!^ node=n1 phase=Running\n"
	for name, test := range map[string]struct {
		world  string
		hidden string
		want   bool
	}{
		"another ReplicaSet":                    {pod + "apps/v1 ReplicaSet s/second", "", true},
		"a StatefulSet":                         {pod + "apps/v1 StatefulSet s/second", "", true},
		"nobody":                                {pod, "", false},
		"one elsewhere":                         {pod + "apps/v1 ReplicaSet t/second", "", false},
		"one that goes":                         {pod + "apps/v1 ReplicaSet s/second deleting fin=x/y", "", false},
		"a kind that does not adopt pods":       {pod + "apps/v1 Deployment s/second", "", false},
		"DaemonSets were not seen":              {pod, "DaemonSet", true},
		"Deployments were not seen":             {pod, "Deployment", false},
		"a pod that another one controls":       {set + "apps/v1 StatefulSet s/second\nv1 Pod s/p owners=first!,second^ node=n1", "", false},
		"a ReplicaSet and another Deployment":   {"apps/v1 Deployment s/d\napps/v1 ReplicaSet s/r owners=d!^\napps/v1 Deployment s/other", "", true},
		"a ReplicaSet and nobody":               {"apps/v1 Deployment s/d\napps/v1 ReplicaSet s/r owners=d!^", "", false},
		"what nobody adopts":                    {set + "v1 ConfigMap s/c owners=first^\napps/v1 ReplicaSet s/second", "", false},
		"a revision and another StatefulSet":    {"apps/v1 StatefulSet s/d\napps/v1 ControllerRevision s/r owners=d!^\napps/v1 StatefulSet s/other", "", true},
		"a pod that is being deleted meanwhile": {set + "v1 Pod s/p owners=first!^ node=n1 deleting=+30 grace=30\napps/v1 ReplicaSet s/second", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := scenario.ParseWorld(test.world, scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			target := objects[0].Ref
			coverage := allBut(test.hidden, reason.NotInDump)
			snap, err := snapshot.New(objects, scenario.Resources(), coverage, snapshot.Source{})
			if err != nil {
				t.Fatal(err)
			}
			result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.OrphanPolicy, target), plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			said := slices.ContainsFunc(result.Plan.Effects, func(e report.Effect) bool {
				return e.Outcome == report.Orphaned && slices.Contains(e.Assumptions, controllers.AdoptionAssumption)
			})
			if said != test.want {
				t.Errorf("said %v, want %v: %+v", said, test.want, result.Plan.Effects)
			}
		})
	}
}

// TestBecauseNamesEveryOwner checks that a plan names the owners that decide, at any position among
// the references and under both rules.
func TestBecauseNamesEveryOwner(t *testing.T) {
	for _, n := range []int{63, 64, 65, 200} {
		for _, tt := range []struct {
			name                 string
			owners               func(i int) string
			outcome              report.Outcome
			because, removed     int
			strict               report.Outcome
			strictReason, reason string
		}{
			{
				name: "all absent", owners: func(i int) string { return fmt.Sprintf("v1:ConfigMap:o%d:o%d", i, i) },
				outcome: report.Deleted, because: n, reason: "NoExistingOwner", strict: report.Deleted, strictReason: "NoExistingOwner",
			},
			{
				name: "the last one is there", owners: func(i int) string {
					if i == n-1 {
						return "home"
					}
					return fmt.Sprintf("v1:ConfigMap:o%d:o%d", i, i)
				},
				outcome: report.Pruned, because: 1, removed: n - 1, reason: "DanglingReferences",
				strict: report.Pruned, strictReason: "DanglingReferences",
			},
			{
				name: "the last one is in another namespace", owners: func(i int) string {
					if i == n-1 {
						return "v1:ConfigMap:away:away"
					}
					return fmt.Sprintf("v1:ConfigMap:o%d:o%d", i, i)
				},
				outcome: report.Deleted, because: n, reason: "NoExistingOwner", strict: report.Kept, strictReason: "AbsenceNotProven",
			},
		} {
			var owners []string
			for i := range n {
				owners = append(owners, tt.owners(i))
			}
			objects, err := scenario.ParseWorld("v1 ConfigMap n/home\nv1 ConfigMap m/away\nv1 Secret n/c owners="+strings.Join(owners, ","), scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
			if err != nil {
				t.Fatal(err)
			}
			for _, rules := range []engine.Rules{engine.Upstream, engine.Strict} {
				result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{Rules: rules})
				if err != nil {
					t.Fatal(err)
				}
				outcome, reason, because := tt.outcome, tt.reason, tt.because
				if rules == engine.Strict {
					outcome, reason = tt.strict, tt.strictReason
					if outcome == report.Kept {
						because = 1
					}
				}
				var e report.Effect
				for _, x := range result.Plan.Effects {
					if x.Object.Name == "c" {
						e = x
					}
				}
				if e.Outcome != outcome || e.Reason != reason || len(e.Because) != because || outcome == report.Pruned && len(e.RemovedReferences) != tt.removed {
					t.Errorf("%d owners, %s, %s: %s %s because of %d, %d removed; want %s %s because of %d, %d removed",
						n, tt.name, rules, e.Outcome, e.Reason, len(e.Because), len(e.RemovedReferences), outcome, reason, because, tt.removed)
				}
			}
		}
	}
}
