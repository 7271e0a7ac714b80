package health

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// Part names a resource that evidence is read from, such as `pods` or `leases.coordination.k8s.io`.
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
	Applications       Part = "applications.argoproj.io"
	NodeClaims         Part = "nodeclaims.karpenter.sh"
	PolicyBindings     Part = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
)

// partSource describes a part: its resource, and the function that decodes its objects.
type partSource struct {
	part     Part
	resource object.Resource
	take     func(s *Shown, b *body, raw []byte) error
	// fields are read from every object, held from objects that are being deleted or have
	// finalizers, referring from those with references of their own.
	fields, held, referring *manifest.Fields
	// referencesOnly is true if nothing else is read.
	referencesOnly bool
}

// sourceOf returns the source of a part. The fields of T are read from its objects, in addition to
// those that are read from all objects.
func sourceOf[T any](p Part, r object.Resource, take func(*Shown, *body, *T)) partSource {
	fields := manifest.FieldsOf(body{}, *new(T))
	referring := fields
	if more := uses.FieldsOf(schema.GroupKind{Group: r.Group, Kind: r.Kind}); more != nil {
		referring = fields.And(more)
	}
	return partSource{p, r, func(s *Shown, b *body, raw []byte) error {
		var d T
		if err := decode(raw, &d); err != nil {
			return err
		}
		take(s, b, &d)
		return nil
	}, fields, fields.And(heldFields), referring, false}
}

// sources are the parts.
var sources = append(judgedSources, referrerSources(judgedSources)...)

// judgedSources are the parts of which more than references are read.
var judgedSources = []partSource{
	sourceOf(Applications, object.ArgoApplication.Resource(), (*Shown).takeApplication),
	sourceOf(APIServices, object.APIService.Resource(), (*Shown).takeAPIService),
	sourceOf(ClusterBindings, object.ClusterRoleBinding.Resource(), (*Shown).takeBinding),
	sourceOf(ClusterQueues, clusterQueue, (*Shown).takeQueue),
	sourceOf(ClusterRoles, object.ClusterRole.Resource(), (*Shown).takeRole),
	sourceOf(Definitions, object.CRD.Resource(), (*Shown).takeDefinition),
	sourceOf(DaemonSets, object.DaemonSet.Resource(), (*Shown).takeWorkload),
	sourceOf(Deployments, object.Deployment.Resource(), (*Shown).takeWorkload),
	sourceOf(Endpoints, object.Endpoints.Resource(), (*Shown).takeEndpoints),
	sourceOf(Slices, object.EndpointSlice.Resource(), (*Shown).takeSlice),
	sourceOf(Events, object.Resource{Version: "v1", Name: "events", Kind: "Event", Namespaced: true}, (*Shown).takeEvent),
	sourceOf(Gateways, gateway, (*Shown).takeGateway),
	sourceOf(Leases, object.Lease.Resource(), (*Shown).takeLease),
	sourceOf(MutatingWebhooks, object.MutatingWebhookConfiguration.Resource(), (*Shown).takeWebhooks),
	sourceOf(Namespaces, object.Namespace.Resource(), (*Shown).takeNamespace),
	sourceOf(NodeClaims, nodeClaim, (*Shown).takeNodeClaim),
	sourceOf(Nodes, object.Node.Resource(), (*Shown).takeNode),
	sourceOf(Budgets, object.PodDisruptionBudget.Resource(), (*Shown).takeBudget),
	sourceOf(Pods, object.Pod.Resource(), (*Shown).takePod),
	sourceOf(Policies, object.ValidatingAdmissionPolicy.Resource(), (*Shown).takePolicy),
	sourceOf(PolicyBindings, object.ValidatingAdmissionPolicyBinding.Resource(), (*Shown).takePolicyBinding),
	sourceOf(RoleBindings, object.RoleBinding.Resource(), (*Shown).takeBinding),
	sourceOf(Roles, object.Role.Resource(), (*Shown).takeRole),
	sourceOf(Services, object.Service.Resource(), (*Shown).takeService),
	sourceOf(StatefulSets, object.StatefulSet.Resource(), (*Shown).takeWorkload),
	sourceOf(LegacyUsages, legacyUsage, (*Shown).takeUsage),
	sourceOf(Usages, usage, (*Shown).takeUsage),
	sourceOf(ClusterUsages, clusterUsage, (*Shown).takeUsage),
	sourceOf(Attachments, object.VolumeAttachment.Resource(), (*Shown).takeAttachment),
	sourceOf(ValidatingWebhooks, object.ValidatingWebhookConfiguration.Resource(), (*Shown).takeWebhooks),
}

// Parts lists all parts, sorted by name.
func Parts() []Part {
	parts := object.Mapped(sources, func(s partSource) Part { return s.part })
	slices.Sort(parts)
	return parts
}

// ResourceOf returns the resource of a part in the version that Add reads best.
func ResourceOf(p Part) object.Resource {
	i := slices.IndexFunc(sources, func(s partSource) bool { return s.part == p })
	if i < 0 {
		return object.Resource{}
	}
	return sources[i].resource
}

// ReferencesOnly reports whether a part is read only for what its objects refer to. Tests of the permissions
// that stuck needs leave it out.
func ReferencesOnly(p Part) bool {
	return slices.ContainsFunc(sources, func(s partSource) bool { return s.part == p && s.referencesOnly })
}

// PartOf returns the part that objects of a kind belong to, in any version. It returns false for a
// kind if only its terminating objects are recorded.
func PartOf(apiVersion, kind string) (Part, bool) {
	s, ok := findSource(apiVersion, kind)
	return s.part, ok
}

// sourcesByKind has the sources by group and kind.
var sourcesByKind = func() map[[2]string]partSource {
	found := map[[2]string]partSource{}
	for _, s := range sources {
		found[[2]string{s.resource.Group, s.resource.Kind}] = s
	}
	return found
}()

func findSource(apiVersion, kind string) (partSource, bool) {
	group := object.GroupOf(apiVersion)
	if group == "events.k8s.io" {
		group = ""
	}
	s, ok := sourcesByKind[[2]string{group, kind}]
	return s, ok
}

// heldFields lists the fields that are read from any object that is being deleted or has
// finalizers.
var heldFields = manifest.FieldsOf(body{}, heldBody{}, statusBody{})

// FieldsOf returns the fields of an object that Add reads. It returns nil if Add needs none of
// them.
func FieldsOf(o *object.Object) *manifest.Fields {
	held := o.BeingDeleted() || len(o.Finalizers()) > 0
	s, isPart := findSource(o.APIVersion, o.Kind)
	references := referenceFields(o)
	switch {
	case isPart && held && references != nil:
		return s.held.And(references)
	case isPart && held:
		return s.held
	case isPart && references != nil:
		return s.referring
	case isPart && !s.referencesOnly:
		return s.fields
	case !held:
		return references
	}
	fields := heldFields
	if isMachine(o.Group(), o.Kind) {
		fields = machineFields
	}
	if references != nil {
		fields = fields.And(references)
	}
	return fields
}
