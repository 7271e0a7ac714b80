// Package object defines the types that all other packages share: references, objects as the
// collector sees them, watch events, patches, and the served resources. It has predicates on these
// types, functions on lists of any type, and no other behaviour.
package object

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Ref names an object. The namespace of a cluster-scoped object is empty.
type Ref struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace,omitempty"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
}

// String returns the canonical text of a reference: `apps/v1 Deployment shop/web`. It omits the UID
// and doesn't escape; callers that print foreign names to a terminal must.
func (r Ref) String() string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + name
	}
	return r.APIVersion + " " + r.Kind + " " + name
}

// Group returns the API group of the reference; "" for the core group.
func (r Ref) Group() string { return GroupOf(r.APIVersion) }

// IsContainer reports whether the object is a namespace or a definition. Its content is deleted with
// it.
func (r Ref) IsContainer() bool { return r.Is(Namespace) || r.Is(CRD) }

// TrueFirst compares like cmp.Compare, with true before false.
func TrueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// GroupKind returns the kind without its version.
func (r Ref) GroupKind() schema.GroupKind { return schema.GroupKind{Group: r.Group(), Kind: r.Kind} }

// Compare orders references by apiVersion, kind, namespace, name and UID, byte-wise. Every list
// that users see has this order.
func Compare(a, b Ref) int {
	if c := strings.Compare(a.APIVersion, b.APIVersion); c != 0 {
		return c
	}
	if c := strings.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return strings.Compare(string(a.UID), string(b.UID))
}

// Coordinates are where an object is stored: neither its version nor its uid is part of them. Two
// objects with the same coordinates cannot exist at the same time.
type Coordinates struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// GroupKind returns the kind of the object.
func (c Coordinates) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: c.Group, Kind: c.Kind}
}

// Coordinates returns where the object is stored.
func (r Ref) Coordinates() Coordinates { return Coordinates{r.Group(), r.Kind, r.Namespace, r.Name} }

// WithoutUID returns the reference without its UID.
func (r Ref) WithoutUID() Ref {
	r.UID = ""
	return r
}

// GroupOf returns the group part of an apiVersion. As in Kubernetes, an
// apiVersion with more than one slash has neither group nor version.
func GroupOf(apiVersion string) string {
	group, _ := SplitAPIVersion(apiVersion)
	return group
}

// SplitAPIVersion splits an apiVersion into group and version. Both are empty for an invalid one.
//
// Upstream: apimachinery/pkg/runtime/schema/group_version.go FromAPIVersionAndKind.
// Rule: spec §3.11.
func SplitAPIVersion(apiVersion string) (group, version string) {
	group, version, grouped := strings.Cut(apiVersion, "/")
	switch {
	case !grouped:
		return "", apiVersion
	case strings.Contains(version, "/"):
		return "", ""
	}
	return group, version
}

// Kind is a kind that a rule names, nearly always a built-in one. The rule holds for it in every version. Version is the
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

// The custom kinds whose objects list what a deployer has applied: see InventoryFacts.
var (
	ArgoApplication   = deployer("argoproj.io", "v1alpha1", "Application", "applications")
	FluxKustomization = deployer("kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations")
	FluxHelmRelease   = deployer("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases")
	K3sHelmChart      = deployer("helm.cattle.io", "v1", "HelmChart", "helmcharts")
	// KappApp is an App of kapp-controller. It says whether something is deleted, and not what.
	KappApp = deployer("kappctrl.k14s.io", "v1alpha1", "App", "apps")
)

// KappPackage installs a package of Carvel as the App of its name, KappRepository the packages of a repository.
var (
	KappPackage    = deployer("packaging.carvel.dev", "v1alpha1", "PackageInstall", "packageinstalls")
	KappRepository = deployer("packaging.carvel.dev", "v1alpha1", "PackageRepository", "packagerepositories")
)

// ObjectBucketClaim is a claim of a bucket: the name of its ObjectBucket is made from its own.
var ObjectBucketClaim = deployer("objectbucket.io", "v1alpha1", "ObjectBucketClaim", "objectbucketclaims")

// CAPICluster is a cluster of Cluster API: its spec may pause the controllers of all its parts.
var CAPICluster = deployer("cluster.x-k8s.io", "v1beta1", "Cluster", "clusters")

// The settings of Config Connector, for the cluster and for a namespace. Their specs may pause its controllers.
var (
	ConfigConnector        = cnrmSettings(clusterScoped, "ConfigConnector", "configconnectors")
	ConfigConnectorContext = cnrmSettings(namespaced, "ConfigConnectorContext", "configconnectorcontexts")
)

func cnrmSettings(scope func(group, kind, plural string) Kind, kind, plural string) Kind {
	k := scope("core.cnrm.cloud.google.com", kind, plural)
	k.Version = "v1beta1"
	return k
}

// The kinds of snapshots of volumes: a snapshot and its content name each other in their InventoryFacts.
var (
	VolumeSnapshot             = namespaced("snapshot.storage.k8s.io", "VolumeSnapshot", "volumesnapshots")
	VolumeSnapshotContent      = clusterScoped("snapshot.storage.k8s.io", "VolumeSnapshotContent", "volumesnapshotcontents")
	VolumeGroupSnapshot        = namespaced("groupsnapshot.storage.k8s.io", "VolumeGroupSnapshot", "volumegroupsnapshots")
	VolumeGroupSnapshotContent = clusterScoped("groupsnapshot.storage.k8s.io", "VolumeGroupSnapshotContent", "volumegroupsnapshotcontents")
)

// VMSnapshot is a snapshot of a virtual machine of KubeVirt.
var VMSnapshot = deployer("snapshot.kubevirt.io", "v1beta1", "VirtualMachineSnapshot", "virtualmachinesnapshots")

// DeployerKinds returns the kinds whose objects list what a deployer has applied, of any kind in any
// namespace.
func DeployerKinds() []Kind {
	return []Kind{ArgoApplication, FluxKustomization, FluxHelmRelease, K3sHelmChart, KappApp}
}

// IsDeployerResource reports whether a resource has the objects of one of DeployerKinds, in any version.
func IsDeployerResource(r Resource) bool {
	return slices.ContainsFunc(DeployerKinds(), func(k Kind) bool { return k.GroupResource() == r.GroupResource() })
}

// ManagerLease is the lease of kube-controller-manager: its holder runs the controllers of
// Kubernetes.
var ManagerLease = Lease.Ref("kube-system", "kube-controller-manager")

func namespaced(group, kind, plural string) Kind {
	k := clusterScoped(group, kind, plural)
	k.Namespaced = true
	return k
}

func deployer(group, version, kind, plural string) Kind {
	k := namespaced(group, kind, plural)
	k.Version = version
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

// GroupResource returns the resource without a version: the key of storage.
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

// HoldsContainers reports whether the resource is that of namespaces or definitions.
func (r Resource) HoldsContainers() bool { return r.Is(Namespace) || r.Is(CRD) }

// Is reports whether the reference is to one of the kind, in any version.
func (o OwnerReference) Is(k Kind) bool { return o.Kind == k.Kind && GroupOf(o.APIVersion) == k.Group }

// BuiltIn reports whether kube-apiserver itself serves a group. Its controllers are known then, and no CRD
// can be in it. All other groups have a dot in their name, because they are domains. Groups under k8s.io
// are not all of Kubernetes, such as gateway.networking.k8s.io and sparkoperator.k8s.io.
func BuiltIn(group string) bool {
	return !strings.Contains(group, ".") || slices.Contains(servedGroups, group)
}

// MayBeCustom reports whether a CRD may define kinds of the group: one that is neither built in nor of the
// metrics APIs, which Kubernetes aggregates.
func MayBeCustom(group string) bool {
	return !BuiltIn(group) && !slices.Contains([]string{"metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"}, group)
}

// servedGroups are the groups with a dot of kube-apiserver.
//
// Upstream: pkg/controlplane/instance.go stableAPIGroupVersionsEnabledByDefault,
// betaAPIGroupVersionsDisabledByDefault, alphaAPIGroupVersionsDisabledByDefault.
// Upstream: apiextensions-apiserver/pkg/apiserver/apiserver.go DefaultAPIResourceConfigSource.
// Upstream: kube-aggregator/pkg/apiserver/apiserver.go DefaultAPIResourceConfigSource.
var servedGroups = []string{
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io",
	"certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io", "imagepolicy.k8s.io",
	"internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io",
	"scheduling.k8s.io", "settings.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
}

// IsEvent reports whether an object is an Event, in either of its groups.
func (r Ref) IsEvent() bool { return r.Kind == "Event" && hasEvents(r.Group()) }

// IsEvent reports whether a resource is that of Events, in either of its groups.
func (r Resource) IsEvent() bool { return r.Name == "events" && hasEvents(r.Group) }

func hasEvents(group string) bool { return group == "" || group == "events.k8s.io" }

// generated are the kinds that Kubernetes creates for other objects, and creates again when
// deleted.
var generated = []Kind{Endpoints, EndpointSlice, IPAddress, Lease, ControllerRevision}

// Generated reports whether Kubernetes creates the object for other objects, by its kind or its
// fixed name. It is deleted with them, without a loss.
func (r Ref) Generated() bool {
	switch {
	case r.Is(ConfigMap):
		return r.Name == "kube-root-ca.crt" || r.Name == "openshift-service-ca.crt"
	case r.Is(ServiceAccount):
		return r.Name == "default"
	default:
		return slices.ContainsFunc(generated, r.Is)
	}
}
