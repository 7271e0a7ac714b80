package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

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
			"PersistentVolume disk: Unknown VolumeUnknown what becomes of it without its PVC pvc/c is not known: its reclaim policy is not known", gone}},
		{"what a volume owns of which that is not known", volume("") + "\nv1 ConfigMap s/notes owners=disk", "", []string{
			"ConfigMap notes: Unknown OwnerUnknown goes or stays with its owner pv/disk",
			"PersistentVolume disk: Unknown VolumeUnknown what becomes of it without its PVC pvc/c is not known: its reclaim policy is not known", gone}},
		{"no driver was seen", volume("reclaim=Delete"), "", []string{
			"PersistentVolume disk: Unknown VolumeUnknown what becomes of it without its PVC pvc/c is not known: what deletes the storage behind it is unknown", gone}},
		{"still attached", strings.Replace(volume("reclaim=Delete"+driver), "pv-protection", "pv-protection,external-attacher/x", 1), "", []string{
			"PersistentVolume disk: Blocked FinalizerRemains held by finalizer external-attacher/x until the CSI driver's external-attacher removes it, when the volume is detached from the node", gone}},
		{"the claim is in use", volume("reclaim=Delete"+driver) + user, "", []string{
			"PersistentVolume disk: Kept UntilFinalizerComesOff stays; goes when kubernetes.io/pvc-protection of pvc/c is removed",
			"PersistentVolumeClaim c: Blocked InUse held by finalizer kubernetes.io/pvc-protection: in use by pod/p"}},
		{"whether the claim is in use is not known", volume("reclaim=Delete" + driver), "Pod", []string{
			"PersistentVolume disk: Unknown VolumeUnknown what becomes of it without its PVC pvc/c is not known: whether its PVC goes is not known",
			"PersistentVolumeClaim c: Unknown ProtectionUnknown whether finalizer kubernetes.io/pvc-protection goes is not known: pods: no list of it was seen"}},
		{"whether the claim of a retained volume is in use is not known", volume("reclaim=Retain" + driver), "Pod", []string{
			"PersistentVolumeClaim c: Unknown ProtectionUnknown whether finalizer kubernetes.io/pvc-protection goes is not known: pods: no list of it was seen"}},
		{"volumes were not seen", claim, "PersistentVolume", []string{
			"PersistentVolumeClaim c: Deleted Requested deleted as requested: whether a volume and the storage behind it go, too, is not known"}},
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
			"ResourceClaim d: Unknown ProtectionUnknown whether finalizer resource.kubernetes.io/delete-protection goes is not known: what reserves it is not in the snapshot"}},
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
