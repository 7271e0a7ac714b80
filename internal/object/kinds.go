package object

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is a built-in kind that a rule names. The rule holds for it in every version. Version is the
// one used in snapshots.
type Kind struct {
	schema.GroupKind
	Version string
	// Plural is the name of the resource, as in a URL.
	Plural     string
	Namespaced bool
}

const (
	admission = "admissionregistration.k8s.io"
	rbac      = "rbac.authorization.k8s.io"
)

// The kinds that rules name.
var (
	ConfigMap             = namespaced("", "ConfigMap", "configmaps")
	Endpoints             = namespaced("", "Endpoints", "endpoints")
	Namespace             = clusterScoped("", "Namespace", "namespaces")
	Node                  = clusterScoped("", "Node", "nodes")
	PV                    = clusterScoped("", "PersistentVolume", "persistentvolumes")
	PVC                   = namespaced("", "PersistentVolumeClaim", "persistentvolumeclaims")
	Pod                   = namespaced("", "Pod", "pods")
	ReplicationController = namespaced("", "ReplicationController", "replicationcontrollers")
	Secret                = namespaced("", "Secret", "secrets")
	Service               = namespaced("", "Service", "services")
	ServiceAccount        = namespaced("", "ServiceAccount", "serviceaccounts")

	MutatingAdmissionPolicy          = clusterScoped(admission, "MutatingAdmissionPolicy", "mutatingadmissionpolicies")
	MutatingAdmissionPolicyBinding   = clusterScoped(admission, "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings")
	MutatingWebhookConfiguration     = clusterScoped(admission, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations")
	ValidatingAdmissionPolicy        = clusterScoped(admission, "ValidatingAdmissionPolicy", "validatingadmissionpolicies")
	ValidatingAdmissionPolicyBinding = clusterScoped(admission, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings")
	ValidatingWebhookConfiguration   = clusterScoped(admission, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations")

	ClusterRole        = clusterScoped(rbac, "ClusterRole", "clusterroles")
	ClusterRoleBinding = clusterScoped(rbac, "ClusterRoleBinding", "clusterrolebindings")
	Role               = namespaced(rbac, "Role", "roles")
	RoleBinding        = namespaced(rbac, "RoleBinding", "rolebindings")

	CRD                       = clusterScoped("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions")
	APIService                = clusterScoped("apiregistration.k8s.io", "APIService", "apiservices")
	ControllerRevision        = namespaced("apps", "ControllerRevision", "controllerrevisions")
	DaemonSet                 = namespaced("apps", "DaemonSet", "daemonsets")
	Deployment                = namespaced("apps", "Deployment", "deployments")
	ReplicaSet                = namespaced("apps", "ReplicaSet", "replicasets")
	StatefulSet               = namespaced("apps", "StatefulSet", "statefulsets")
	Job                       = namespaced("batch", "Job", "jobs")
	CronJob                   = namespaced("batch", "CronJob", "cronjobs")
	CertificateSigningRequest = clusterScoped("certificates.k8s.io", "CertificateSigningRequest", "certificatesigningrequests")
	PodCertificateRequest     = namespaced("certificates.k8s.io", "PodCertificateRequest", "podcertificaterequests")
	Lease                     = namespaced("coordination.k8s.io", "Lease", "leases")
	EndpointSlice             = namespaced("discovery.k8s.io", "EndpointSlice", "endpointslices")
	IPAddress                 = clusterScoped("networking.k8s.io", "IPAddress", "ipaddresses")
	ServiceCIDR               = clusterScoped("networking.k8s.io", "ServiceCIDR", "servicecidrs")
	ResourceClaim             = namespaced("resource.k8s.io", "ResourceClaim", "resourceclaims")
	ResourceSlice             = clusterScoped("resource.k8s.io", "ResourceSlice", "resourceslices")
	PodDisruptionBudget       = namespaced("policy", "PodDisruptionBudget", "poddisruptionbudgets")
	PriorityClass             = clusterScoped("scheduling.k8s.io", "PriorityClass", "priorityclasses")
	CSINode                   = clusterScoped("storage.k8s.io", "CSINode", "csinodes")
	StorageClass              = clusterScoped("storage.k8s.io", "StorageClass", "storageclasses")
	VolumeAttachment          = clusterScoped("storage.k8s.io", "VolumeAttachment", "volumeattachments")
)

// ManagerLease is the lease of kube-controller-manager: its holder runs the controllers of
// Kubernetes.
var ManagerLease = Lease.Ref("kube-system", "kube-controller-manager")

func namespaced(group, kind, plural string) Kind {
	k := clusterScoped(group, kind, plural)
	k.Namespaced = true
	return k
}

func clusterScoped(group, kind, plural string) Kind {
	return Kind{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Version: "v1", Plural: plural}
}

// APIVersion returns group and version as written in a manifest.
func (k Kind) APIVersion() string { return k.Resource().APIVersion() }

// Resource returns the resource of the kind, for questions about coverage. It need not be served.
func (k Kind) Resource() Resource {
	return Resource{Group: k.Group, Version: k.Version, Name: k.Plural, Kind: k.Kind, Namespaced: k.Namespaced}
}

// GroupResource returns the key of storage.
func (k Kind) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Plural}
}

// Ref returns a reference to an object of the kind, without a UID.
func (k Kind) Ref(namespace, name string) Ref {
	return Ref{APIVersion: k.APIVersion(), Kind: k.Kind, Namespace: namespace, Name: name}
}

// Is reports whether the reference is to one of the kind, in any version.
func (r Ref) Is(k Kind) bool { return r.Kind == k.Kind && r.Group() == k.Group }

// Is reports whether the resource is that of the kind, in any version.
func (r Resource) Is(k Kind) bool { return r.Kind == k.Kind && r.Group == k.Group }

// Is reports whether the reference is to one of the kind, in any version.
func (o OwnerReference) Is(k Kind) bool { return o.Kind == k.Kind && GroupOf(o.APIVersion) == k.Group }

// MayBeCustom reports whether a CRD may define kinds of the group. The groups of Kubernetes have no
// dot or end in .k8s.io.
func MayBeCustom(group string) bool {
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}
