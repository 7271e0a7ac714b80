package undo

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// builtInGroups are the API groups of Kubernetes itself. A suffix tells nothing: the
// group gateway.networking.k8s.io is one of custom resources.
//
// Upstream: pkg/controlplane/instance.go stableAPIGroupVersionsEnabledByDefault,
// betaAPIGroupVersionsDisabledByDefault, alphaAPIGroupVersionsDisabledByDefault.
// Upstream: apiextensions-apiserver/pkg/apiserver/apiserver.go DefaultAPIResourceConfigSource.
// Upstream: kube-aggregator/pkg/apiserver/apiserver.go DefaultAPIResourceConfigSource.
var builtInGroups = []string{
	"", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "authentication.k8s.io",
	"authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
	"extensions", "flowcontrol.apiserver.k8s.io", "imagepolicy.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io",
	"policy", "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
}

// BuiltIn reports whether a group is one of Kubernetes itself: its controllers are
// known. Others are of custom resources or of extension servers.
func BuiltIn(group string) bool { return slices.Contains(builtInGroups, group) }

// phases are when objects are made that no reference orders: what others are built on
// first, what starts work or fills what is missing by itself late, and what can refuse
// requests last.
const (
	foundations = iota
	accounts
	volumes
	data
	actors
	gates
)

// phase is when an object is made. Before a workload runs, or a controller sees its
// custom resource, there has to be what they would otherwise make empty, or do without.
func phase(r object.Ref) int {
	if !BuiltIn(r.Group()) {
		return actors
	}
	switch r.Kind {
	case "Namespace", "CustomResourceDefinition", "PriorityClass", "StorageClass", "VolumeAttributesClass", "RuntimeClass", "IngressClass",
		"DeviceClass", "CSIDriver", "Node":
		return foundations
	case "ServiceAccount":
		return accounts
	case "PersistentVolume":
		return volumes
	case "Pod", "ReplicationController", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "HorizontalPodAutoscaler":
		return actors
	case "ResourceQuota", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicyBinding",
		"MutatingAdmissionPolicyBinding", "APIService":
		return gates
	default:
		return data
	}
}

// fills reports whether an owner would make such a dependent by itself if it were there
// first, and with other content. Then the dependent is made first, and gets the reference
// once the owner is there. What the controller of a custom resource makes is not known: it
// may be any of its dependents.
//
// Upstream: pkg/controller/statefulset/stateful_pod_control.go createPersistentVolumeClaims.
// Upstream: pkg/controller/volume/ephemeral/controller.go handleVolume.
// Upstream: pkg/controller/resourceclaim/controller.go handleClaim.
func fills(owner, dependent object.Ref) bool {
	switch {
	case !BuiltIn(owner.Group()):
		return true
	case dependent.Is(object.PVC):
		return owner.Is(object.StatefulSet) || owner.Is(object.Pod)
	case dependent.Group() == "resource.k8s.io" && dependent.Kind == "ResourceClaim":
		return owner.Is(object.Pod)
	default:
		return false
	}
}
