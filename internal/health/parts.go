package health

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Part is a resource that the evidence is read from, such as `pods` or
// `leases.coordination.k8s.io`.
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
	Policies           Part = "validatingadmissionpolicies.admissionregistration.k8s.io"
	Attachments        Part = "volumeattachments.storage.k8s.io"
	Budgets            Part = "poddisruptionbudgets.policy"
	LegacyUsages       Part = "usages.apiextensions.crossplane.io"
	Usages             Part = "usages.protection.crossplane.io"
	ClusterUsages      Part = "clusterusages.protection.crossplane.io"
	Gateways           Part = "gateways.gateway.networking.k8s.io"
	ClusterQueues      Part = "clusterqueues.kueue.x-k8s.io"
	PolicyBindings     Part = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
)

// source describes a part: its resource, the function that decodes its objects, and the fields that
// it reads in addition to those of all objects.
type source struct {
	part     Part
	resource object.Resource
	take     func(*Shown, *body, []byte) error
	reads    any
	// fields are read from every object, held from objects that are being deleted or have
	// finalizers.
	fields, held *manifest.Fields
}

// sources returns the parts, sorted by name.
func sources() []source {
	return []source{
		{part: APIServices, resource: object.APIService.Resource(), take: (*Shown).takeAPIService, reads: apiServiceBody{}},
		{part: ClusterBindings, resource: object.ClusterRoleBinding.Resource(), take: (*Shown).takeBinding, reads: bindingBody{}},
		{part: ClusterQueues, resource: clusterQueue, take: (*Shown).takeQueue, reads: queueBody{}},
		{part: ClusterRoles, resource: object.ClusterRole.Resource(), take: (*Shown).takeRole, reads: roleBody{}},
		{part: Definitions, resource: object.CRD.Resource(), take: (*Shown).takeDefinition, reads: definitionBody{}},
		{part: DaemonSets, resource: object.DaemonSet.Resource(), take: (*Shown).takeWorkload, reads: workloadBody{}},
		{part: Deployments, resource: object.Deployment.Resource(), take: (*Shown).takeWorkload, reads: workloadBody{}},
		{part: Endpoints, resource: object.Endpoints.Resource(), take: (*Shown).takeEndpoints, reads: endpointsBody{}},
		{part: Slices, resource: object.EndpointSlice.Resource(), take: (*Shown).takeSlice, reads: sliceBody{}},
		{part: Events, resource: object.Resource{Version: "v1", Name: "events", Kind: "Event", Namespaced: true}, take: (*Shown).takeEvent, reads: eventBody{}},
		{part: Gateways, resource: gateway, take: (*Shown).takeGateway, reads: gatewayBody{}},
		{part: Leases, resource: object.Lease.Resource(), take: (*Shown).takeLease, reads: leaseBody{}},
		{part: MutatingWebhooks, resource: object.MutatingWebhookConfiguration.Resource(), take: (*Shown).takeWebhooks, reads: webhooksBody{}},
		{part: Namespaces, resource: object.Namespace.Resource(), take: (*Shown).takeNamespace, reads: conditioned{}},
		{part: Nodes, resource: object.Node.Resource(), take: (*Shown).takeNode, reads: nodeBody{}},
		{part: Budgets, resource: object.PodDisruptionBudget.Resource(), take: (*Shown).takeBudget, reads: budgetBody{}},
		{part: Pods, resource: object.Pod.Resource(), take: (*Shown).takePod, reads: podBody{}},
		{part: Policies, resource: object.ValidatingAdmissionPolicy.Resource(), take: (*Shown).takePolicy, reads: policyBody{}},
		{part: PolicyBindings, resource: object.ValidatingAdmissionPolicyBinding.Resource(), take: (*Shown).takePolicyBinding, reads: policyBindingBody{}},
		{part: RoleBindings, resource: object.RoleBinding.Resource(), take: (*Shown).takeBinding, reads: bindingBody{}},
		{part: Roles, resource: object.Role.Resource(), take: (*Shown).takeRole, reads: roleBody{}},
		{part: Services, resource: object.Service.Resource(), take: (*Shown).takeService, reads: serviceBody{}},
		{part: StatefulSets, resource: object.StatefulSet.Resource(), take: (*Shown).takeWorkload, reads: workloadBody{}},
		{part: LegacyUsages, resource: legacyUsage, take: (*Shown).takeUsage, reads: usageBody{}},
		{part: Usages, resource: usage, take: (*Shown).takeUsage, reads: usageBody{}},
		{part: ClusterUsages, resource: clusterUsage, take: (*Shown).takeUsage, reads: usageBody{}},
		{part: Attachments, resource: object.VolumeAttachment.Resource(), take: (*Shown).takeAttachment, reads: attachmentBody{}},
		{part: ValidatingWebhooks, resource: object.ValidatingWebhookConfiguration.Resource(), take: (*Shown).takeWebhooks, reads: webhooksBody{}},
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

// ResourceOf returns the resource of a part in the version that Add reads best.
func ResourceOf(p Part) object.Resource {
	for _, s := range sources() {
		if s.part == p {
			return s.resource
		}
	}
	return object.Resource{}
}

// PartOf returns the part that objects of a kind belong to, in any version. It returns false for
// kinds of which only terminating objects are recorded.
func PartOf(apiVersion, kind string) (Part, bool) {
	s, ok := sourceOf(apiVersion, kind)
	return s.part, ok
}

// byKind has the sources by group and kind.
var byKind = func() map[[2]string]source {
	found := map[[2]string]source{}
	for _, s := range sources() {
		s.fields = manifest.FieldsOf(body{}, s.reads)
		s.held = s.fields.And(ofHeld)
		found[[2]string{s.resource.Group, s.resource.Kind}] = s
	}
	return found
}()

func sourceOf(apiVersion, kind string) (source, bool) {
	group := object.GroupOf(apiVersion)
	if group == "events.k8s.io" {
		group = ""
	}
	s, ok := byKind[[2]string{group, kind}]
	return s, ok
}

// ofHeld lists the fields that are read from any object that is being deleted or has finalizers.
var ofHeld = manifest.FieldsOf(body{}, heldBody{}, statusBody{})

// FieldsOf returns the fields of an object that Add reads. It returns nil if Add needs none of
// them.
func FieldsOf(o *object.Object) *manifest.Fields {
	held := o.BeingDeleted() || len(o.Finalizers()) > 0
	s, isPart := sourceOf(o.APIVersion, o.Kind)
	switch {
	case isPart && held:
		return s.held
	case isPart:
		return s.fields
	case held:
		return ofHeld
	}
	return nil
}
