package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// race is garbage once a is gone. If m releases b last, b stays. If m releases b first, b is
// deleted with a.
const race = "apps/v1 StatefulSet n/m owners=v1:ConfigMap:a:a fin=orphan\nv1 Secret n/b owners=v1:ConfigMap:a:a,apps/v1:StatefulSet:m:m"

// TestOtherRequestsAreExplored checks that requests other than deletes are also explored by
// default, and mark what depends on timing or on what the garbage collector remembers.
func TestOtherRequestsAreExplored(t *testing.T) {
	collect := func(*snapshot.Snapshot) plan.Seed { return plan.CollectSeed() }
	take := func(s *snapshot.Snapshot) plan.Seed {
		return plan.RemoveFinalizerSeed([]string{"x/y"}, find(s, "a"))
	}
	cidr := func(name, block string) string {
		return "networking.k8s.io/v1 ServiceCIDR " + name + " cidrs=" + block + " fin=networking.k8s.io/service-cidr-finalizer\n"
	}
	both := func(s *snapshot.Snapshot) plan.Seed {
		return plan.DeleteSeed(engine.OrphanPolicy, find(s, "b"), find(s, "a"))
	}
	deleted := func(s *snapshot.Snapshot) plan.Seed { return plan.DeleteSeed(engine.Background, find(s, "a")) }
	for _, tt := range []struct {
		name, world string
		seed        func(*snapshot.Snapshot) plan.Seed
		options     plan.Options
		want        string
	}{
		{"a finalizer is removed, and two ends are possible", "v1 ConfigMap n/a deleting grace=0 fin=x/y\n" + race, take, plan.Options{}, "Explored: 3 objects, 64 schedules, 33 memories\nm Deleted NoExistingOwner\na Deleted FinalizerTaken\nb Orphaned OrphanDependents or Deleted schedule"},
		{"a finalizer is removed, and elsewhere there is garbage with two ends", "v1 ConfigMap m/a deleting grace=0 fin=x/y uid=other\n" + race, take, plan.Options{}, "Explored: 1 objects, 64 schedules, 33 memories\nm Deleted NoExistingOwner anyway\na Deleted FinalizerTaken\nb Orphaned OrphanDependents anyway"},
		{"a finalizer is removed, and beside it a deletion goes on that may have been missed", "v1 ConfigMap n/left deleting grace=0 fin=foregroundDeletion\nv1 ConfigMap n/a owners=left deleting grace=0 fin=x/y", take, plan.Options{}, "Explored: 2 objects, 64 schedules, 35 memories\na Deleted FinalizerTaken\nleft Deleted NoBlockingDependents or Blocked memory anyway"},
		{"the same, and only what is near is asked for", "v1 ConfigMap m/a deleting grace=0 fin=x/y uid=other\n" + race, take, plan.Options{OnlyNear: true}, "Explored: 1 objects, 64 schedules, 33 memories\na Deleted FinalizerTaken"},
		{"the garbage collector of Kubernetes, garbage with two ends", race, collect, plan.Options{}, "Explored: 2 objects, 64 schedules, 33 memories\nm Deleted NoExistingOwner\nb Orphaned OrphanDependents or Deleted schedule"},
		{"our own collector, the same", race, collect, plan.Options{Rules: engine.Strict}, "Explored: 2 objects, 64 schedules, 0 memories\nm Deleted NoExistingOwner\nb Orphaned OrphanDependents or Deleted schedule"},
		{"the garbage collector of Kubernetes may have missed a deletion", "v1 ConfigMap n/left deleting grace=0 fin=foregroundDeletion", collect, plan.Options{}, "Explored: 1 objects, 64 schedules, 33 memories\nleft Deleted NoBlockingDependents or Blocked memory"},
		{"our own starts now", "v1 ConfigMap n/left deleting grace=0 fin=foregroundDeletion", collect, plan.Options{Rules: engine.Strict}, "Explored: 1 objects, 64 schedules, 0 memories\nleft Deleted NoBlockingDependents"},
		{"our own in another namespace", race, collect, plan.Options{Rules: engine.Strict, Keep: func(o *object.Object, _ bool) reason.Code {
			if o.Namespace != "m" {
				return reason.NotAskedFor
			}
			return ""
		}}, "OneEnd: 0 objects, 0 schedules, 0 memories"},
		{"an owner that the garbage collector does not watch goes, and it may have given up to ask for it", "events.k8s.io/v1 Event n/a\nrbac.authorization.k8s.io/v1 ClusterRole m owners=a\nv1 Secret n/b owners=a", deleted, plan.Options{}, "Explored: 3 objects, 64 schedules, 0 memories\na Deleted Requested\nb Kept ExistingOwner or Deleted schedule"},
		{"of two ranges that go the second may cover the addresses of the first", "networking.k8s.io/v1 IPAddress 10.0.0.5 labels=ipaddress.kubernetes.io/managed-by=ipallocator.k8s.io\n" + cidr("b", "10.0.0.0/24") + cidr("a", "10.0.0.0/16"), both, plan.Options{}, "Explored: 2 objects, 64 schedules, 0 memories\na Deleted Requested or Blocked schedule\nb Blocked InUse or Deleted schedule"},
		{"nothing is garbage", "v1 ConfigMap n/a\nv1 Secret n/b owners=a", collect, plan.Options{}, "OneEnd: 0 objects, 0 schedules, 0 memories"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objects, err := scenario.ParseWorld(tt.world, scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			snap, err := snapshot.Listed(objects, scenario.Resources(), nil, allBut("", ""), snapshot.Source{})
			if err != nil {
				t.Fatal(err)
			}
			tt.options.Explore = plan.Usual
			result, err := plan.Simulate(t.Context(), snap, tt.seed(snap), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			p, e := result.Plan, result.Plan.Exploration
			got := fmt.Sprintf("%s: %d objects, %d schedules, %d memories", e.State, e.Objects, e.Schedules, e.Memories)
			for _, x := range p.Effects {
				got += fmt.Sprintf("\n%s %s %s", x.Object.Name, x.Outcome, x.Reason)
				for _, o := range x.Otherwise {
					got += fmt.Sprintf(" or %s %s", o.Outcome, o.Because)
				}
				if x.AlreadyHappening {
					got += " anyway"
				}
			}
			if diff := cmp.Diff(tt.want, strings.TrimSpace(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEndOfAnotherRun checks a pod with a shared UID that is only deleted under another schedule.
// Its kubelet ends it there, which the reference run does not mention.
func TestEndOfAnotherRun(t *testing.T) {
	const world = `apps/v1 ReplicaSet n/o0
rbac.authorization.k8s.io/v1 ClusterRole o5 owners=extensions/v1beta1:Secret:o4:o4!f^,example.org/v1:Unknown:x:x
rbac.authorization.k8s.io/v1 Role n/o6 owners=example.org/v1:Unknown:x:x
v1 ConfigMap n/o1
v1 ConfigMap n/o3
v1 Pod m/o8 uid=o1 owners=apps/v1:ReplicaSet:o0-not:o0!f^
v1 Secret n/o4`
	objects, err := scenario.ParseWorld(world, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.Listed(objects, scenario.Resources(), nil, allBut("", ""), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Simulate(t.Context(), snap, plan.CollectSeed(), plan.Options{Explore: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for e := range result.Plan.Account() {
		got += fmt.Sprintf("%s %s %s %s\n", e.Object.Name, e.Consequence.Change, e.Consequence.When, e.Reason)
	}
	if want := "o6 Deleted AtOnce UnknownOwnerKind\no8 Deleted AtOnce SharedUID\n"; got != want {
		t.Errorf("consequences\n%swant\n%s", got, want)
	}
}

// TestExploringLeavesAPIServicesAlone checks that the API server sees every definition. An
// incomplete pass of the controller that iterates over definitions does not remove APIs.
func TestExploringLeavesAPIServicesAlone(t *testing.T) {
	const world = `v1 Namespace n phase=Active spec=kubernetes
apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com uid=ws defines=example.com/v1:Widget:widgets established
apiregistration.k8s.io/v1 APIService v1.example.com labels=kube-aggregator.kubernetes.io/automanaged=true
v1 ConfigMap n/a
v1 ConfigMap n/b
v1 Secret n/c owners=a,b
`
	objects, err := scenario.ParseWorld(world, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []object.Ref{snap.Objects[len(snap.Objects)-1].Ref, snap.Find("v1", "ConfigMap", "n", "a").Ref} {
		result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, target), plan.Options{Explore: 40})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range result.Plan.Effects {
			if e.Object.Kind == "APIService" {
				t.Errorf("delete of %s: %s %s: %s", target, e.Object.Name, e.Outcome, e.Message)
			}
		}
	}
}

// TestExploringInventsNothing checks that no other schedule changes an object that the delete does
// not reach and that would not change on its own.
func TestExploringInventsNothing(t *testing.T) {
	contested := 0
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 7)
		collector, _ := plan.Open(snap, engine.Upstream)
		m := reach.New(snap, collector.Graph())
		target := rapid.SampledFrom(snap.Objects).Draw(t, "target")
		reached := map[object.Ref]bool{}
		for _, o := range m.Region(target).Objects() {
			reached[o.Ref] = true
		}
		for _, policy := range []engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy} { // few deletes have several ends
			for _, e := range simulate(t, snap, plan.DeleteSeed(policy, target.Ref), plan.Options{Explore: 5}).Plan.Effects {
				if e.Outcome == report.Unknown || !e.DependsOnTiming {
					continue
				}
				contested++
				o := snap.Find(e.Object.APIVersion, e.Object.Kind, e.Object.Namespace, e.Object.Name)
				if !reached[o.Ref] && m.IsStable(o) {
					t.Fatalf("%s delete of %s: %s is out of reach, and %s (%s)", policy, target.Ref, o.Ref, e.Outcome, e.Message)
				}
			}
		}
	})
	if contested == 0 {
		t.Error("nothing was contested: the property shows nothing")
	}
}

// TestOneEnd checks that no schedule finds another end if a plan says, without trying, that there
// is only one.
func TestOneEnd(t *testing.T) {
	certain, several := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 7)
		policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
		var targets []object.Ref
		for range rapid.IntRange(1, 2).Draw(t, "targets") {
			targets = append(targets, rapid.SampledFrom(snap.Objects).Draw(t, "target").Ref)
		}
		seed := plan.DeleteSeed(policy, targets...)
		usual := simulate(t, snap, seed, plan.Options{Explore: plan.Usual})
		if usual.Plan.Exploration.State != report.OneEnd {
			several++
			return
		}
		if usual.Plan.Exploration.Objects > 1 {
			certain++
		}
		for _, e := range simulate(t, snap, seed, plan.Options{Explore: 30}).Plan.Effects {
			if e.DependsOnTiming {
				t.Fatalf("%s delete of %v: %v, and %s: %s %v in\n%s", policy, targets, *usual.Plan.Exploration,
					e.Object, e.Outcome, e.Otherwise, scenario.World{Objects: snap.Objects})
			}
		}
	})
	if certain == 0 || several == 0 {
		t.Errorf("%d certain plans and %d others: the property shows nothing", certain, several)
	}
	t.Logf("%d certain plans, %d others", certain, several)
}

// TestContestedContainers checks worlds that end differently depending on the progress of the
// controllers when the collector looks, and similar worlds that do not.
func TestContestedContainers(t *testing.T) {
	const (
		namespaces  = "v1 Namespace n phase=Active spec=kubernetes\nv1 Namespace m phase=Active spec=kubernetes\n"
		definitions = "apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com uid=ws defines=example.com/v1:Widget:widgets established\n" +
			"apiextensions.k8s.io/v1 CustomResourceDefinition gadgets.example.com uid=gs defines=example.com/v1:Gadget:gadgets scope=Cluster established\n"
		// A finalizer holds the object, so that the reference that went first shows.
		held = " fin=x/y\n"
	)
	for _, tt := range []struct {
		name, world, targets string
		policy               engine.Policy
		contested            string
	}{
		{
			name:    "two CRDs go, each with an owner of one object (S073)",
			world:   namespaces + definitions + "example.com/v1 Gadget g\nv1 ConfigMap n/c owners=g,ws!" + held,
			targets: "ws gs", policy: engine.ForegroundPolicy,
			contested: "c",
		},
		{
			name:    "two instances of one CRD own one object (S073)",
			world:   namespaces + definitions + "example.com/v1 Widget n/v\nexample.com/v1 Widget n/w\nv1 ConfigMap n/c owners=v,w" + held,
			targets: "ws", policy: engine.Background,
			contested: "c",
		},
		{
			name:    "a CRD and its only instance own one object (S073)",
			world:   namespaces + definitions + "example.com/v1 Gadget g\nrbac.authorization.k8s.io/v1 ClusterRole c owners=g!,gs" + held,
			targets: "gs", policy: engine.OrphanPolicy,
			contested: "c",
		},
		{
			name:    "one owner goes with the CRD, the other stays",
			world:   namespaces + definitions + "example.com/v1 Widget n/w\nv1 ConfigMap n/s\nv1 ConfigMap n/c owners=s,w" + held,
			targets: "ws", policy: engine.Background,
		},
		{
			name:    "a namespace is emptied in any order, one owner is outside",
			world:   namespaces + "v1 ConfigMap n/a\nv1 Secret n/c owners=a,m" + held,
			targets: "n", policy: engine.Background,
			contested: "c",
		},
		{
			name:    "the only owner goes with the namespace",
			world:   namespaces + "v1 ConfigMap n/a\nv1 Secret n/c owners=a" + held,
			targets: "n", policy: engine.Background,
		},
		{
			name:    "a request comes after the garbage collector took the other's owner",
			world:   "v1 ConfigMap n/a\nv1 ConfigMap n/b\nv1 Secret n/c owners=a,b" + held,
			targets: "a b", policy: engine.Background,
			contested: "c",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names := scenario.Names{}
			objects, err := scenario.ParseWorld(tt.world, names)
			if err != nil {
				t.Fatal(err)
			}
			snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
			if err != nil {
				t.Fatal(err)
			}
			var targets []object.Ref
			for uid := range strings.FieldsSeq(tt.targets) {
				targets = append(targets, names[types.UID(uid)])
			}
			result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(tt.policy, targets...), plan.Options{Explore: 40})
			if err != nil {
				t.Fatal(err)
			}
			var contested []string
			for _, e := range result.Plan.Effects {
				if e.DependsOnTiming {
					contested = append(contested, e.Object.Name)
				}
				if e.Outcome == report.Unknown {
					t.Errorf("%s is unknown: %s", e.Object.Name, e.Message)
				}
			}
			if !slices.Equal(contested, strings.Fields(tt.contested)) {
				t.Errorf("contested: %q, want %q", contested, tt.contested)
			}
		})
	}
}
