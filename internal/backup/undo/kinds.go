package undo

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// builtInGroups are the API groups of Kubernetes itself. A suffix is no criterion: the group
// gateway.networking.k8s.io has custom resources.
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

// BuiltIn reports whether a group belongs to Kubernetes itself, so its controllers are known. Other
// groups have custom resources or extension servers.
func BuiltIn(group string) bool { return slices.Contains(builtInGroups, group) }

// The phases order creations that no reference orders. Objects that others depend on come first,
// workloads late, and what can refuse requests last.
const (
	foundations = iota
	accounts
	volumes
	data
	actors
	gates
)

// phase returns the phase in which an object is created. Data comes before workloads and
// custom resources. Their controllers would otherwise create it empty or run without it.
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

// fills reports whether an existing owner would create such a dependent by itself, with other
// content. Then the dependent is created first, and gets the reference after its owner. Controllers
// of custom resources are unknown: they may create any dependent.
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
