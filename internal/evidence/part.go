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

// sources are the parts in the order of their names. An initialiser would refer to
// itself: the takers ask for their part.
func sources() []source {
	return []source{
		{APIServices, object.APIService.Resource(), (*World).takeAPIService},
		{ClusterBindings, object.ClusterRoleBinding.Resource(), (*World).takeBinding},
		{ClusterRoles, object.ClusterRole.Resource(), (*World).takeRole},
		{Definitions, object.CRD.Resource(), (*World).takeDefinition},
		{DaemonSets, object.DaemonSet.Resource(), (*World).takeWorkload},
		{Deployments, object.Deployment.Resource(), (*World).takeWorkload},
		{Endpoints, object.Endpoints.Resource(), (*World).takeEndpoints},
		{Slices, object.EndpointSlice.Resource(), (*World).takeSlice},
		{Events, object.Resource{Version: "v1", Name: "events", Kind: "Event", Namespaced: true}, (*World).takeEvent},
		{Leases, object.Lease.Resource(), (*World).takeLease},
		{MutatingWebhooks, object.MutatingWebhookConfiguration.Resource(), (*World).takeWebhooks},
		{Namespaces, object.Namespace.Resource(), (*World).takeNamespace},
		{Nodes, object.Node.Resource(), (*World).takeNode},
		{Pods, object.Pod.Resource(), (*World).takePod},
		{RoleBindings, object.RoleBinding.Resource(), (*World).takeBinding},
		{Roles, object.Role.Resource(), (*World).takeRole},
		{Services, object.Service.Resource(), (*World).takeService},
		{StatefulSets, object.StatefulSet.Resource(), (*World).takeWorkload},
		{ValidatingWebhooks, object.ValidatingWebhookConfiguration.Resource(), (*World).takeWebhooks},
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
