package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// protectedWorld deletes the first object of a world in the foreground and returns the effects.
// Objects of the kinds in hidden are not covered.
func protectedWorld(t *testing.T, text string, hidden ...string) []report.Effect {
	t.Helper()
	objects, err := scenario.ParseWorld(text, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	target := objects[0].Ref
	coverage := &snapshot.Coverage{}
	for _, r := range scenario.Resources().All() {
		if !slices.Contains(hidden, r.Kind) {
			coverage.Add(r.GroupResource(), "")
		}
	}
	snap, err := snapshot.New(objects, scenario.Resources(), coverage, snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.ForegroundPolicy, target), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan.Effects
}

// TestProtectedObjects checks what happens to objects that a finalizer of Kubernetes protects, and
// to their owners.
func TestProtectedObjects(t *testing.T) {
	const set = "apps/v1 StatefulSet s/db uid=set\nv1 Node n1\n"
	const claim = "v1 PersistentVolumeClaim s/data fin=kubernetes.io/pvc-protection owners=set!^"
	const pod = "v1 Pod s/db-0 node=n1 phase=Running period=30 "
	const job = "v1 Pod s/p uid=p node=n1 phase=Running period=30 owners=j!^ fin=batch.kubernetes.io/job-tracking"
	for _, test := range []struct {
		name   string
		world  string
		hidden string
		want   []string
	}{
		{"the claims go with the pods", set + claim + "\n" + pod + "owners=set!^ claims=data", "", []string{
			"StatefulSet db: Deleted Requested", "PersistentVolumeClaim data: Deleted WaitingOwner", "Pod db-0: Deleted WaitingOwner"}},
		{"another pod uses the PVC", set + claim + "\n" + pod + "claims=data", "", []string{
			"StatefulSet db: Blocked BlockingDependents waits for pvc/data",
			"PersistentVolumeClaim data: Blocked InUse held by finalizer kubernetes.io/pvc-protection: in use by pod/db-0"}},
		{"pods not covered", set + claim, "Pod", []string{
			"StatefulSet db: Unknown DependentUnknown goes only after pvc/data, whose outcome is unknown",
			"PersistentVolumeClaim data: Unknown ProtectionUnknown unknown whether finalizer kubernetes.io/pvc-protection is removed: pods: no list of it was seen"}},
		{"volumes not shown", set + claim + "\n" + pod, "", []string{
			"StatefulSet db: Unknown DependentUnknown goes only after pvc/data, whose outcome is unknown",
			"PersistentVolumeClaim data: Unknown ProtectionUnknown unknown whether finalizer kubernetes.io/pvc-protection is removed: pods do not all show their volumes: db-0"}},
		{"somebody else holds the PVC, too", set + strings.Replace(claim, "protection", "protection,x/y", 1) + "\n" + pod + "claims=data", "", []string{
			"StatefulSet db: Blocked BlockingDependents waits for pvc/data",
			"PersistentVolumeClaim data: Blocked FinalizerRemains held by finalizers kubernetes.io/pvc-protection, x/y; waits for pod/db-0"}},
		{"the pod waits for its PVC, and the claim for its pod",
			"v1 Pod s/db-0 uid=p node=n1 phase=Running period=30 claims=data\nv1 PersistentVolumeClaim s/data fin=kubernetes.io/pvc-protection owners=p!^", "", []string{
				"PersistentVolumeClaim data: Blocked CycleOfWaiting waits in a cycle with pod/db-0",
				"Pod db-0: Blocked CycleOfWaiting waits in a cycle with pvc/data"}},
		{"a bound volume", "v1 PersistentVolume disk phase=Bound claim=s/data:data fin=kubernetes.io/pv-protection\nv1 PersistentVolumeClaim s/data", "", []string{
			"PersistentVolume disk: Blocked InUse held by finalizer kubernetes.io/pv-protection: in use by pvc/data"}},
		{"a Job", "batch/v1 Job s/j finished=false\n" + job, "", []string{"Job j: Deleted Requested", "Pod p: Deleted WaitingOwner"}},
		{"a Job of somebody else", "batch/v1 Job s/j finished=false managed=x.io/y\n" + job, "", []string{
			"Job j: Blocked BlockingDependents waits for pod/p",
			"Pod p: Blocked LeftAlone held by finalizer batch.kubernetes.io/job-tracking: the Job controller leaves it alone: x.io/y manages Job j"}},
		{"a Job that is not shown", "batch/v1 Job s/j\n" + job, "", []string{
			"Job j: Unknown DependentUnknown goes only after pod/p, whose outcome is unknown",
			"Pod p: Unknown ProtectionUnknown unknown whether finalizer batch.kubernetes.io/job-tracking is removed: who manages Job j is not in the snapshot"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, e := range protectedWorld(t, test.world, test.hidden) {
				line := e.Object.Kind + " " + e.Object.Name + ": " + string(e.Outcome) + " " + e.Reason
				if e.Outcome != report.Deleted {
					line += " " + e.Message
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUsersAreNamed checks that the users of a claim are listed among the objects that block it,
// and that the end of a claim states its assumption.
func TestUsersAreNamed(t *testing.T) {
	effects := protectedWorld(t, `v1 PersistentVolumeClaim s/data fin=kubernetes.io/pvc-protection
v1 Pod s/a node=n1 phase=Succeeded claims=data
v1 Pod s/b node=n1 phase=Running claims=data`)
	want := &report.BlockedBy{Finalizers: []string{"kubernetes.io/pvc-protection"}, Dependents: []object.Ref{
		object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "s", Name: "a", UID: "a"},
		object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "s", Name: "b", UID: "b"},
	}}
	if len(effects) != 1 || cmp.Diff(want, effects[0].BlockedBy) != "" {
		t.Errorf("effects %+v", effects)
	}
	gone := protectedWorld(t, "v1 PersistentVolumeClaim s/data fin=kubernetes.io/pvc-protection")
	if len(gone) != 1 || gone[0].Outcome != report.Deleted || len(gone[0].Assumptions) != 1 || !strings.Contains(gone[0].Assumptions[0], "PVC protection") {
		t.Errorf("effects %+v", gone)
	}
}

// TestReleasersAreAssumed checks that the deletion of a running pod of a Job assumes both the Job
// controller, which removes its finalizer, and the kubelet, which ends it.
func TestReleasersAreAssumed(t *testing.T) {
	effects := protectedWorld(t, `batch/v1 Job s/j finished=false
v1 Pod s/p node=n1 phase=Running period=30 owners=j!^ fin=batch.kubernetes.io/job-tracking`)
	if len(effects) != 2 || len(effects[1].Assumptions) != 2 ||
		!strings.Contains(effects[1].Assumptions[0], "Job controller") || !strings.Contains(effects[1].Assumptions[1], "kubelet") {
		t.Errorf("effects %+v", effects)
	}
}

// TestCountedPodsAreNoEffects checks that a pod that is not deleted and only loses the finalizer of
// its Job is no effect.
func TestCountedPodsAreNoEffects(t *testing.T) {
	effects := protectedWorld(t, `v1 ConfigMap s/c
batch/v1 Job s/j finished
v1 Pod s/p node=n1 phase=Succeeded owners=j!^ fin=batch.kubernetes.io/job-tracking`)
	if len(effects) != 1 || effects[0].Object.Kind != "ConfigMap" {
		t.Errorf("effects %+v", effects)
	}
}
