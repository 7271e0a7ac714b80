package snapshot

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// olderVersion is a version of a built-in resource that only releases before 1.37 serve.
type olderVersion struct {
	apiVersion, name, kind string
	namespaced             bool
}

func (o olderVersion) resource() object.Resource {
	group, version := object.SplitAPIVersion(o.apiVersion)
	return object.Resource{Group: group, Version: version, Name: o.name, Kind: o.kind, Singular: strings.ToLower(o.kind),
		Namespaced: o.namespaced, Verbs: object.AllVerbs}
}

// olderVersions are the versions in dumps of older clusters. They are added to the built-in
// resources only if the dump shows that they were served.
var olderVersions = []olderVersion{
	{"admissionregistration.k8s.io/v1beta1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", false},
	{"admissionregistration.k8s.io/v1beta1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false},
	{"apiextensions.k8s.io/v1beta1", "customresourcedefinitions", "CustomResourceDefinition", false},
	{"apiregistration.k8s.io/v1beta1", "apiservices", "APIService", false},
	{"apps/v1beta1", "controllerrevisions", "ControllerRevision", true},
	{"apps/v1beta1", "deployments", "Deployment", true},
	{"apps/v1beta1", "statefulsets", "StatefulSet", true},
	{"apps/v1beta2", "controllerrevisions", "ControllerRevision", true},
	{"apps/v1beta2", "daemonsets", "DaemonSet", true},
	{"apps/v1beta2", "deployments", "Deployment", true},
	{"apps/v1beta2", "replicasets", "ReplicaSet", true},
	{"apps/v1beta2", "statefulsets", "StatefulSet", true},
	{"autoscaling/v2beta1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true},
	{"autoscaling/v2beta2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true},
	{"batch/v1beta1", "cronjobs", "CronJob", true},
	{"batch/v2alpha1", "cronjobs", "CronJob", true},
	{"certificates.k8s.io/v1beta1", "certificatesigningrequests", "CertificateSigningRequest", false},
	{"coordination.k8s.io/v1beta1", "leases", "Lease", true},
	{"discovery.k8s.io/v1beta1", "endpointslices", "EndpointSlice", true},
	{"events.k8s.io/v1beta1", "events", "Event", true},
	{"extensions/v1beta1", "daemonsets", "DaemonSet", true},
	{"extensions/v1beta1", "deployments", "Deployment", true},
	{"extensions/v1beta1", "ingresses", "Ingress", true},
	{"extensions/v1beta1", "networkpolicies", "NetworkPolicy", true},
	{"extensions/v1beta1", "podsecuritypolicies", "PodSecurityPolicy", false},
	{"extensions/v1beta1", "replicasets", "ReplicaSet", true},
	{"flowcontrol.apiserver.k8s.io/v1beta1", "flowschemas", "FlowSchema", false},
	{"flowcontrol.apiserver.k8s.io/v1beta1", "prioritylevelconfigurations", "PriorityLevelConfiguration", false},
	{"flowcontrol.apiserver.k8s.io/v1beta2", "flowschemas", "FlowSchema", false},
	{"flowcontrol.apiserver.k8s.io/v1beta2", "prioritylevelconfigurations", "PriorityLevelConfiguration", false},
	{"flowcontrol.apiserver.k8s.io/v1beta3", "flowschemas", "FlowSchema", false},
	{"flowcontrol.apiserver.k8s.io/v1beta3", "prioritylevelconfigurations", "PriorityLevelConfiguration", false},
	{"networking.k8s.io/v1beta1", "ingressclasses", "IngressClass", false},
	{"networking.k8s.io/v1beta1", "ingresses", "Ingress", true},
	{"networking.k8s.io/v1beta1", "ipaddresses", "IPAddress", false},
	{"networking.k8s.io/v1beta1", "servicecidrs", "ServiceCIDR", false},
	{"node.k8s.io/v1beta1", "runtimeclasses", "RuntimeClass", false},
	{"policy/v1beta1", "poddisruptionbudgets", "PodDisruptionBudget", true},
	{"policy/v1beta1", "podsecuritypolicies", "PodSecurityPolicy", false},
	{"rbac.authorization.k8s.io/v1beta1", "clusterrolebindings", "ClusterRoleBinding", false},
	{"rbac.authorization.k8s.io/v1beta1", "clusterroles", "ClusterRole", false},
	{"rbac.authorization.k8s.io/v1beta1", "rolebindings", "RoleBinding", true},
	{"rbac.authorization.k8s.io/v1beta1", "roles", "Role", true},
	{"scheduling.k8s.io/v1beta1", "priorityclasses", "PriorityClass", false},
	{"settings.k8s.io/v1alpha1", "podpresets", "PodPreset", true},
	{"storage.k8s.io/v1beta1", "csidrivers", "CSIDriver", false},
	{"storage.k8s.io/v1beta1", "csinodes", "CSINode", false},
	{"storage.k8s.io/v1beta1", "csistoragecapacities", "CSIStorageCapacity", true},
	{"storage.k8s.io/v1beta1", "storageclasses", "StorageClass", false},
	{"storage.k8s.io/v1beta1", "volumeattachments", "VolumeAttachment", false},
}
