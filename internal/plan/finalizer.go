package plan

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// wellKnown is who removes a finalizer of Kubernetes itself, and when.
//
// Upstream: semantics.md §7.1.
type wellKnown struct {
	name, removedBy, when string
}

var finalizerTable = []wellKnown{
	{object.Foreground, "the garbage collector", "when no blocking dependent is left"},
	{object.Orphan, "the garbage collector", "when the references of all dependents are removed"},
	{"kubernetes", "the namespace controller", "when all content of the namespace is gone and discovery has no failures"},
	{"customresourcecleanup.apiextensions.k8s.io", "the API server", "when all instances of the definition are gone"},
	{"kubernetes.io/pvc-protection", "the PVC protection controller", "when no scheduled pod uses the claim, finished pods included"},
	{"kubernetes.io/pv-protection", "the PV protection controller", "when the volume is not bound"},
	{"kubernetes.io/vac-protection", "the VolumeAttributesClass protection controller", "when no volume and no claim uses the class"},
	{"kubernetes.io/pv-controller", "the PV controller", "when the storage behind the volume is deleted"},
	{"external-provisioner.volume.kubernetes.io/finalizer", "the CSI driver's external-provisioner", "when the storage behind the volume is deleted"},
	{"service.kubernetes.io/load-balancer-cleanup", "the cloud controller manager", "when the cloud load balancer is deleted"},
	{"batch.kubernetes.io/job-tracking", "the Job controller", "when the pod is counted, or its Job is gone or finished"},
	{"resource.kubernetes.io/delete-protection", "the resource claim controller", "when no pod reserves the claim and its allocation is cleared"},
	{"networking.k8s.io/service-cidr-finalizer", "the ServiceCIDR controller", "when every address is covered by another ServiceCIDR"},
	{"scheduling.k8s.io/podgroup-protection", "the PodGroup protection controller", "when no unfinished pod refers to the group"},
}

// Remover is who removes a finalizer of Kubernetes itself, and when; empty for one
// of somebody else.
func Remover(finalizer string) (by, when string) {
	for _, w := range finalizerTable {
		if w.name == finalizer {
			return w.removedBy, w.when
		}
	}
	return "", ""
}
