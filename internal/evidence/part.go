package evidence

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Part is a resource that the evidence is read from, as `pods` or `leases.coordination.k8s.io`.
type Part string

// The parts.
const (
	Namespaces         Part = "namespaces"
	Nodes              Part = "nodes"
	Pods               Part = "pods"
	Services           Part = "services"
	Endpoints          Part = "endpoints"
	Events             Part = "events"
	Slices             Part = "endpointslices.discovery.k8s.io"
	Deployments        Part = "deployments.apps"
	StatefulSets       Part = "statefulsets.apps"
	DaemonSets         Part = "daemonsets.apps"
	Roles              Part = "roles.rbac.authorization.k8s.io"
	RoleBindings       Part = "rolebindings.rbac.authorization.k8s.io"
	ClusterRoles       Part = "clusterroles.rbac.authorization.k8s.io"
	ClusterBindings    Part = "clusterrolebindings.rbac.authorization.k8s.io"
	Leases             Part = "leases.coordination.k8s.io"
	APIServices        Part = "apiservices.apiregistration.k8s.io"
	Definitions        Part = "customresourcedefinitions.apiextensions.k8s.io"
	ValidatingWebhooks Part = "validatingwebhookconfigurations.admissionregistration.k8s.io"
	MutatingWebhooks   Part = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
)

// source is where a part is served, and how its objects are taken in.
type source struct {
	part     Part
	resource object.Resource
	take     func(*World, *body, []byte) error
}

func served(group, kind, name string, namespaced bool) object.Resource {
	return object.Resource{Group: group, Version: "v1", Kind: kind, Name: name, Namespaced: namespaced}
}

// sources are the parts in the order of their names. An initialiser would refer to
// itself: the takers ask for their part.
func sources() []source {
	const rbac, admission = "rbac.authorization.k8s.io", "admissionregistration.k8s.io"
	return []source{
		{APIServices, served("apiregistration.k8s.io", "APIService", "apiservices", false), (*World).takeAPIService},
		{ClusterBindings, served(rbac, "ClusterRoleBinding", "clusterrolebindings", false), (*World).takeBinding},
		{ClusterRoles, served(rbac, "ClusterRole", "clusterroles", false), (*World).takeRole},
		{Definitions, served("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", false), (*World).takeDefinition},
		{DaemonSets, served("apps", "DaemonSet", "daemonsets", true), (*World).takeWorkload},
		{Deployments, served("apps", "Deployment", "deployments", true), (*World).takeWorkload},
		{Endpoints, served("", "Endpoints", "endpoints", true), (*World).takeEndpoints},
		{Slices, served("discovery.k8s.io", "EndpointSlice", "endpointslices", true), (*World).takeSlice},
		{Events, served("", "Event", "events", true), (*World).takeEvent},
		{Leases, served("coordination.k8s.io", "Lease", "leases", true), (*World).takeLease},
		{MutatingWebhooks, served(admission, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false), (*World).takeWebhooks},
		{Namespaces, served("", "Namespace", "namespaces", false), (*World).takeNamespace},
		{Nodes, served("", "Node", "nodes", false), (*World).takeNode},
		{Pods, served("", "Pod", "pods", true), (*World).takePod},
		{RoleBindings, served(rbac, "RoleBinding", "rolebindings", true), (*World).takeBinding},
		{Roles, served(rbac, "Role", "roles", true), (*World).takeRole},
		{Services, served("", "Service", "services", true), (*World).takeService},
		{StatefulSets, served("apps", "StatefulSet", "statefulsets", true), (*World).takeWorkload},
		{ValidatingWebhooks, served(admission, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false), (*World).takeWebhooks},
	}
}

// Parts lists all parts, sorted by name.
func Parts() []Part {
	var parts []Part
	for _, s := range sources() {
		parts = append(parts, s.part)
	}
	slices.Sort(parts)
	return parts
}

// ResourceOf is where a part is served: its group, the version that Add reads best,
// kind, plural and scope.
func ResourceOf(p Part) object.Resource {
	for _, s := range sources() {
		if s.part == p {
			return s.resource
		}
	}
	return object.Resource{}
}

// PartOf is the part that objects of a kind belong to, in whatever version; false
// for kinds of which nothing is kept but what every terminating object shows.
func PartOf(apiVersion, kind string) (Part, bool) {
	s, ok := sourceOf(apiVersion, kind)
	return s.part, ok
}

func sourceOf(apiVersion, kind string) (source, bool) {
	group := object.GroupOf(apiVersion)
	if group == "events.k8s.io" {
		group = ""
	}
	for _, s := range sources() {
		if s.resource.Kind == kind && s.resource.Group == group {
			return s, true
		}
	}
	return source{}, false
}
