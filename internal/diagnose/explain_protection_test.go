package diagnose_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestProtectedObjects: the part for an object that is being deleted has its users, with everything
// that decides about them.
func TestProtectedObjects(t *testing.T) {
	const claim = "v1 PersistentVolumeClaim s/data uid=c fin=kubernetes.io/pvc-protection deleting\n"
	const inUse = " held by finalizer kubernetes.io/pvc-protection: in use by pod/p"
	const owned = "apps/v1 ReplicaSet s/rs uid=rs\nv1 Pod s/p uid=p node=n1 phase=Running owners=rs!^ claims=data\nv1 Node n1\n"
	for _, test := range []struct {
		name, world, want string
		remedies          []string
	}{
		{"used by a pod that stays", claim + owned, "HeldByFinalizer InUse" + inUse, []string{"kubectl gc explain pod p -n s"}},
		{"used by a pod that goes", claim + "v1 Pod s/p uid=p node=n1 phase=Running period=30 owners=apps/v1:ReplicaSet:rs:rs!^ claims=data\nv1 Node n1",
			"BeingDeleted BeingDeleted goes if the PVC protection controller runs, and no other pod starts to use the PVC", nil},
		{"used by nobody", claim, "BeingDeleted BeingDeleted goes if the PVC protection controller runs, and no other pod starts to use the PVC", nil},
		{"a pod without its volumes", claim + "v1 Pod s/q node=n1",
			"HeldByFinalizer ProtectionUnknown unknown whether finalizer kubernetes.io/pvc-protection is removed: pods do not all show their volumes: q", nil},
		{"the volume of a PVC in use", "v1 PersistentVolume disk phase=Bound claim=s/data:c fin=kubernetes.io/pv-protection deleting\n" + claim + owned,
			"HeldByFinalizer InUse held by finalizer kubernetes.io/pv-protection: in use by pvc/data", []string{"kubectl gc explain persistentvolumeclaim data -n s"}},
		{"the volume of a PVC that goes", "v1 PersistentVolume disk phase=Bound claim=s/data:c fin=kubernetes.io/pv-protection deleting\n" + claim,
			"BeingDeleted BeingDeleted goes if the PV controller releases a volume whose claim has gone, and the PV protection controller runs", nil},
		{"the pod of a Job of somebody else",
			"v1 Pod s/p node=n1 owners=j!^ deleting grace=0 fin=batch.kubernetes.io/job-tracking\nbatch/v1 Job s/j uid=j managed=x.io/y",
			"HeldByFinalizer LeftAlone held by finalizer batch.kubernetes.io/job-tracking: the Job controller leaves it alone: x.io/y manages Job j",
			[]string{"kubectl get pod p -n s -o jsonpath='{.metadata.managedFields}'"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := protectedObject(t, test.world)
			if got := string(e.Verdict) + " " + e.Reason + " " + e.Message; got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			var remedies []string
			for _, r := range e.Remedies {
				remedies = append(remedies, r.Command)
			}
			if diff := cmp.Diff(test.remedies, remedies); diff != "" {
				t.Errorf("remedies (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTakersOfClaims: a delete takes a claim if it takes the users of the claim as well.
func TestTakersOfClaims(t *testing.T) {
	const claim = "v1 PersistentVolumeClaim s/data owners=set!^ fin=kubernetes.io/pvc-protection\napps/v1 StatefulSet s/db uid=set\nv1 Node n1\n"
	taken := protectedObject(t, claim+"v1 Pod s/p node=n1 phase=Running period=30 owners=set!^ claims=data")
	if len(taken.TakenBy) != 1 || taken.TakenBy[0].Object.Name != "db" {
		t.Errorf("taken by %v", taken.TakenBy)
	}
	kept := protectedObject(t, claim+"v1 Pod s/p node=n1 phase=Running period=30 claims=data")
	if len(kept.TakenBy) != 1 || !kept.TakenBy[0].Later {
		t.Errorf("taken by %v, but only when its user has gone", kept.TakenBy)
	}
}

// TestTakersOfWhatWaits: an object that is being deleted and waits is taken by a delete of what it
// waits for, directly or not.
func TestTakersOfWhatWaits(t *testing.T) {
	const top = "v1 ConfigMap n/top uid=top fin=foregroundDeletion deleting grace=0\n"
	for _, test := range []struct{ name, world, want string }{
		{"for a dependent", top + "rbac.authorization.k8s.io/v1 ClusterRole role uid=role owners=top!", "role"},
		{
			"for a dependent of a dependent", top + "v1 ConfigMap n/middle uid=middle owners=top! fin=foregroundDeletion deleting grace=0\n" +
				"rbac.authorization.k8s.io/v1 ClusterRole role uid=role owners=middle!", "middle role",
		},
		{
			"for a pod and its node", "v1 PersistentVolumeClaim s/data fin=kubernetes.io/pvc-protection deleting grace=0\n" +
				"v1 Pod s/p node=n1 phase=Running claims=data owners=set\nv1 ConfigMap s/set uid=set\nv1 Node n1", "p set n1",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var names []string
			for _, taker := range protectedObject(t, test.world).TakenBy {
				names = append(names, taker.Object.Name)
			}
			if got := strings.Join(names, " "); got != test.want {
				t.Errorf("taken by %s, want %s", got, test.want)
			}
		})
	}
}

// protectedObject explains the first object of a world that is known completely.
func protectedObject(t *testing.T, text string) *report.Explanation {
	t.Helper()
	objects, err := scenario.ParseWorld(text, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	ref := objects[0].Ref
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := diagnose.Explain(t.Context(), snap, ref, diagnose.ExplanationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
