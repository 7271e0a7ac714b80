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
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// dataPlan returns the plan of the delete of the first object of a world. Objects of the kinds in
// hidden are not covered.
func dataPlan(t *testing.T, text string, hidden ...string) *report.Plan {
	t.Helper()
	objects, err := scenario.ParseWorld(text, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	target, coverage := objects[0].Ref, &snapshot.Coverage{}
	for _, r := range scenario.Resources().All() {
		if !slices.Contains(hidden, r.Kind) {
			coverage.Add(r.GroupResource(), "")
		}
	}
	snap, err := snapshot.New(objects, scenario.Resources(), coverage, snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, target), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Plan
}

// TestStorage checks what happens to the storage behind deleted claims and volumes.
func TestStorage(t *testing.T) {
	const claim = "v1 PersistentVolumeClaim s/data uid=c\n"
	for _, test := range []struct {
		name, world, hidden, want string
	}{
		{"deleted with the PVC", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Delete by=csi.example.com csi", "", "data pv Delete Deleted"},
		{"a volume that nobody is known to have provisioned", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Delete", "", "data pv Delete Unknown"},
		{"kept", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Retain", "", "data pv Retain Kept"},
		{"wiped", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Recycle", "", "data pv Recycle Deleted"},
		{"a policy that is not shown", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c", "", "data pv  Unknown"},
		{"a policy of nobody", claim + "v1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Burn", "", "data pv Burn Unknown"},
		{"reserved for a claim of that name", claim + "v1 PersistentVolume pv claim=s/data: reclaim=Delete", "", "data pv Delete Deleted"},
		{"of a claim of that name that was before", claim + "v1 PersistentVolume pv phase=Released claim=s/data:old reclaim=Delete", "", ""},
		{"of a PVC elsewhere", claim + "v1 PersistentVolume pv phase=Bound claim=t/data:d reclaim=Delete", "", ""},
		{"no volume", claim, "", ""},
		{"volumes that cannot be listed", claim, "PersistentVolume", "data -  Unknown"},
		{"a volume that shows nothing", claim + "v1 PersistentVolume pv", "", "data -  Unknown"},
		{"a volume alone, with a provisioner", "v1 PersistentVolume pv phase=Available reclaim=Delete fin=external-provisioner.volume.kubernetes.io/finalizer", "", "- pv Delete Deleted"},
		{"a volume alone, with nobody", "v1 PersistentVolume pv phase=Available reclaim=Delete", "", "- pv Delete Unknown"},
		{"a volume alone that is retained", "v1 PersistentVolume pv phase=Released claim=s/data:c reclaim=Retain", "", "- pv Retain Kept"},
		{"a volume alone that shows nothing", "v1 PersistentVolume pv", "", "- pv  Unknown"},
		{"the claim stays", "v1 ConfigMap s/a uid=a\nv1 ConfigMap s/b uid=b\n" + strings.TrimSpace(claim) + " owners=a,b\nv1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Delete", "", ""},
		{"claim and volume of one owner", "v1 Node n uid=n\nv1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Delete owners=n fin=kubernetes.io/pv-controller\n" + strings.TrimSpace(claim) + " owners=n", "", "data pv Delete Deleted"},
		{"and nobody is known to delete it before the volume is gone", "v1 Node n uid=n\nv1 PersistentVolume pv phase=Bound claim=s/data:c reclaim=Delete owners=n\n" + strings.TrimSpace(claim) + " owners=n", "", "data pv Delete Unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, x := range dataPlan(t, test.world, test.hidden).Storage {
				name := func(r *object.Ref) string {
					if r == nil {
						return "-"
					}
					return r.Name
				}
				if x.Message == "" {
					t.Errorf("nothing is said of %s", name(x.Volume))
				}
				got = append(got, fmt.Sprintf("%s %s %s %s", name(x.Claim), name(x.Volume), x.ReclaimPolicy, x.Outcome))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestData checks which kinds are marked as data.
func TestData(t *testing.T) {
	p := dataPlan(t, `v1 ConfigMap s/a uid=a
v1 Secret s/b owners=a
v1 PersistentVolumeClaim s/c owners=a
example.com/v1 Widget s/d owners=a
v1 Pod s/e owners=a
`)
	got := map[string]report.Data{}
	for _, c := range p.Summary.ByKind {
		if c.Data != "" {
			got[c.Kind] = c.Data
		}
	}
	want := map[string]report.Data{"Secret": report.SecretData, "PersistentVolumeClaim": report.VolumeData, "Widget": report.CustomData}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestImmortalNamespaces checks that nothing is deleted with a namespace that the API server never
// deletes, whatever was seen.
func TestImmortalNamespaces(t *testing.T) {
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		p := dataPlan(t, "v1 Namespace "+name+" phase=Active spec=kubernetes\nv1 ConfigMap "+name+"/a\n", "Secret", "Pod")
		if len(p.Effects) != 1 || p.Effects[0].Outcome != report.Kept || p.Effects[0].Reason != string(reason.RequestRefused) {
			t.Errorf("%s: %+v", name, p.Effects)
		}
		if !p.Complete || len(p.Gaps) > 0 {
			t.Errorf("%s: that nothing goes rests on no gap: %v", name, p.Gaps)
		}
	}
	if p := dataPlan(t, "v1 Namespace kube-node-lease phase=Active spec=kubernetes\nv1 ConfigMap kube-node-lease/a\n", "Secret", "Pod"); p.Complete {
		t.Error("any other namespace goes, and what it contains is not known")
	}
}

// TestVolumes checks what happens to volumes of deleted claims, to Services with load balancers,
// and to devices and address ranges.
func TestVolumes(t *testing.T) {
	const claim = "v1 PersistentVolumeClaim s/c fin=kubernetes.io/pvc-protection\n"
	volume := func(more string) string {
		return claim + "v1 PersistentVolume disk phase=Bound claim=s/c:c fin=kubernetes.io/pv-protection " + more
	}
	const driver = " by=csi.example.com csi"
	const gone = "PersistentVolumeClaim c: Deleted Requested deleted as requested"
	const user = "\nv1 Node n1\nv1 Pod s/p node=n1 phase=Running claims=c"
	for _, test := range []struct {
		name   string
		world  string
		hidden string
		want   []string
	}{
		{"Delete", volume("reclaim=Delete" + driver), "", []string{
			"PersistentVolume disk: Deleted VolumeReclaimed goes with its PVC pvc/c, and the storage behind it, too: its reclaim policy is Delete", gone}},
		{"Retain", volume("reclaim=Retain" + driver), "", []string{
			"PersistentVolume disk: Kept VolumeRetained stays with its data: its PVC pvc/c goes, and its reclaim policy is Retain", gone}},
		{"Recycle", volume("reclaim=Recycle"), "", []string{
			"PersistentVolume disk: Kept VolumeRecycled stays, and its data is erased: its PVC pvc/c goes, and its reclaim policy is Recycle", gone}},
		{"no policy was seen", volume(""), "", []string{
			"PersistentVolume disk: Unknown VolumeUnknown its outcome without its PVC pvc/c is unknown: its reclaim policy is not known", gone}},
		{"what a volume owns of which that is not known", volume("") + "\nv1 ConfigMap s/notes owners=disk", "", []string{
			"ConfigMap notes: Unknown OwnerUnknown goes or stays with pv/disk",
			"PersistentVolume disk: Unknown VolumeUnknown its outcome without its PVC pvc/c is unknown: its reclaim policy is not known", gone}},
		{"no driver was seen", volume("reclaim=Delete"), "", []string{
			"PersistentVolume disk: Unknown VolumeUnknown its outcome without its PVC pvc/c is unknown: what deletes the storage behind it is unknown", gone}},
		{"still attached", strings.Replace(volume("reclaim=Delete"+driver), "pv-protection", "pv-protection,external-attacher/x", 1), "", []string{
			"PersistentVolume disk: Blocked FinalizerRemains held by finalizer external-attacher/x until the CSI driver's external-attacher removes it, when the volume is detached from the node", gone}},
		{"the claim is in use", volume("reclaim=Delete"+driver) + user, "", []string{
			"PersistentVolume disk: Kept UntilFinalizerComesOff stays; goes when kubernetes.io/pvc-protection of pvc/c is removed",
			"PersistentVolumeClaim c: Blocked InUse held by finalizer kubernetes.io/pvc-protection: in use by pod/p"}},
		{"whether the claim is in use is not known", volume("reclaim=Delete" + driver), "Pod", []string{
			"PersistentVolume disk: Unknown VolumeUnknown its outcome without its PVC pvc/c is unknown: unknown whether its PVC is deleted",
			"PersistentVolumeClaim c: Unknown ProtectionUnknown unknown whether finalizer kubernetes.io/pvc-protection is removed: pods: no list of it was seen"}},
		{"whether the claim of a retained volume is in use is not known", volume("reclaim=Retain" + driver), "Pod", []string{
			"PersistentVolumeClaim c: Unknown ProtectionUnknown unknown whether finalizer kubernetes.io/pvc-protection is removed: pods: no list of it was seen"}},
		{"volumes were not seen", claim, "PersistentVolume", []string{
			"PersistentVolumeClaim c: Deleted Requested deleted as requested: unknown whether a volume and the storage behind it are deleted, too"}},
		{"the volume was seen among others that were not", volume("reclaim=Retain"), "PersistentVolume", []string{
			"PersistentVolume disk: Kept VolumeRetained stays with its data: its PVC pvc/c goes, and its reclaim policy is Retain", gone}},
		{"a volume that was released before", claim + "v1 PersistentVolume disk phase=Released claim=s/c:older reclaim=Delete" + driver, "", []string{gone}},
		{"a volume that loses an owner", "v1 Node n1\nv1 Node n2\nv1 PersistentVolume disk phase=Bound claim=s/c:c reclaim=Retain owners=n1,n2\nv1 PersistentVolumeClaim s/c", "", []string{
			"Node n1: Deleted Requested deleted as requested", "PersistentVolume disk: Pruned DanglingReferences kept by node/n2; loses its reference to node/n1"}},
		{"a Service with its Endpoints and address", "v1 Service s/web\nv1 Endpoints s/web uid=e\nnetworking.k8s.io/v1 IPAddress 10.9.0.7 of=s/web labels=ipaddress.kubernetes.io/managed-by=ipallocator.k8s.io", "", []string{
			"IPAddress 10.9.0.7: Deleted DeletedByController goes with svc/web",
			"Endpoints web: Deleted DeletedByController goes with svc/web", "Service web: Deleted Requested deleted as requested"}},
		{"a load balancer", "v1 Service s/web fin=service.kubernetes.io/load-balancer-cleanup", "", []string{"Service web: Deleted Requested deleted as requested"}},
		{"a load balancer that stays up", "v1 Service s/web deleting fin=service.kubernetes.io/load-balancer-cleanup", "", []string{
			"Service web: Blocked FinalizerRemains held by finalizer service.kubernetes.io/load-balancer-cleanup until the cloud controller manager removes it, when the cloud load balancer is deleted"}},
		{"a device in use", "resource.k8s.io/v1 ResourceClaim s/d fin=resource.kubernetes.io/delete-protection reserved=pods:p:p\nv1 Pod s/p node=n1 phase=Running", "", []string{
			"ResourceClaim d: Blocked InUse held by finalizer resource.kubernetes.io/delete-protection: in use by pod/p"}},
		{"a device of who knows whom", "resource.k8s.io/v1 ResourceClaim s/d fin=resource.kubernetes.io/delete-protection", "", []string{
			"ResourceClaim d: Unknown ProtectionUnknown unknown whether finalizer resource.kubernetes.io/delete-protection is removed: what reserves it is not in the snapshot"}},
		{"addresses in use", "networking.k8s.io/v1 ServiceCIDR x cidrs=10.9.0.0/24 fin=networking.k8s.io/service-cidr-finalizer\nnetworking.k8s.io/v1 IPAddress 10.9.0.7 labels=ipaddress.kubernetes.io/managed-by=ipallocator.k8s.io", "", []string{
			"ServiceCIDR x: Blocked InUse held by finalizer networking.k8s.io/service-cidr-finalizer: in use by ipaddress.networking.k8s.io/10.9.0.7"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, e := range protectedWorld(t, test.world, test.hidden) {
				got = append(got, e.Object.Kind+" "+e.Object.Name+": "+string(e.Outcome)+" "+e.Reason+" "+e.Message)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatLeavesTheClusterIsAssumed checks that the deletion of storage and the removal of a load
// balancer are stated as assumptions about their controllers.
func TestWhatLeavesTheClusterIsAssumed(t *testing.T) {
	for world, want := range map[string]string{
		"v1 PersistentVolumeClaim s/c\nv1 PersistentVolume disk phase=Bound claim=s/c:c fin=kubernetes.io/pv-protection reclaim=Delete by=csi.example.com": "can delete the storage",
		"v1 PersistentVolumeClaim s/c\nv1 PersistentVolume disk phase=Bound claim=s/c:c reclaim=Delete by=csi.example.com":                                 "can delete the storage",
		"v1 Service s/web fin=service.kubernetes.io/load-balancer-cleanup":                                                                                 "can take the load balancer down",
	} {
		var deleted []string
		for _, e := range protectedWorld(t, world) {
			if e.Outcome == report.Deleted {
				deleted = append(deleted, e.Assumptions...)
			}
		}
		if !strings.Contains(strings.Join(deleted, "; "), want) {
			t.Errorf("%s: assumed %q", world, deleted)
		}
	}
}
