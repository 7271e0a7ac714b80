package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
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
	for _, c := range result.Plan.Consequences {
		got += fmt.Sprintf("%s %s %s %s\n", c.Object.Name, c.Change, c.When, c.Reason)
	}
	if want := "o6 Deleted AtOnce UnknownOwnerKind\no8 Deleted AtOnce SharedUID\n"; got != want {
		t.Errorf("consequences\n%swant\n%s", got, want)
	}
}
