package finalizer

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// maker is a controller that makes objects for another one and deletes them once that is gone. It has no
// finalizer there, and what it made has no owner references: labels name the object.
type maker struct {
	Controller
	// group is an API group that is served where the controller is installed.
	group string
	// when is the condition of its deletes: a clause. Empty for none.
	when string
	// made returns what it may have made for an object.
	made func(v *Inventories, o *object.Object) []*object.Object
}

// The labels with which makers name the object.
const (
	envoyLabel           = "gateway.envoyproxy.io/owning-gateway-name"
	envoyNamespaceLabel  = "gateway.envoyproxy.io/owning-gateway-namespace"
	contourLabel         = "projectcontour.io/owning-gateway-name"
	inheritedLabel       = "hnc.x-k8s.io/inherited-from"
	balancerLabel        = "svccontroller.k3s.cattle.io/svcname"
	balancedLabel        = "svccontroller.k3s.cattle.io/svcnamespace"
	generatedLabel       = "generate.kyverno.io/"
	policyLabel          = generatedLabel + "policy-name"
	policyNamespaceLabel = generatedLabel + "policy-namespace"
	cloneSourceLabel     = generatedLabel + "clone-source"
)

// The groups of the projects with makers.
const (
	envoyGroup     = "gateway.envoyproxy.io"
	contourGroup   = "projectcontour.io"
	hierarchyGroup = "hnc.x-k8s.io"
	kyvernoGroup   = "kyverno.io"
	k3sGroup       = "k3s.cattle.io"
)

// kyvernoGenerates is the controller of Kyverno that generates objects.
var kyvernoGenerates = Controller{Name: "Kyverno", Programs: []string{"background-controller"}}

// makers are the known ones. One without programs has no pods.
var makers = []maker{
	{
		// Source: envoyproxy/gateway, internal/infrastructure/kubernetes/proxy_infra.go Infra.DeleteProxyInfra.
		Controller: Controller{Name: "Envoy Gateway", Programs: []string{"envoy-gateway"}}, group: envoyGroup,
		made: func(v *Inventories, o *object.Object) []*object.Object {
			return v.labelledFor(isGateway(o), envoyLabel, o.Name, func(x *object.Object) bool { return x.Labels.Get(envoyNamespaceLabel) == o.Namespace })
		},
	},
	{
		// Source: projectcontour/contour, internal/provisioner/objects/object.go EnsureObjectDeleted.
		Controller: Controller{Name: "the Gateway provisioner of Contour", Programs: []string{"contour-gateway-provisioner"}}, group: contourGroup,
		made: func(v *Inventories, o *object.Object) []*object.Object {
			return v.labelledFor(isGateway(o), contourLabel, o.Name, func(x *object.Object) bool { return x.Namespace == "" || x.Namespace == o.Namespace })
		},
	},
	{
		// Source: hierarchical-namespaces, internal/objects/reconciler.go Reconciler.syncPropagated.
		Controller: Controller{Name: "the hierarchical namespace controller", Programs: []string{"hnc"}}, group: hierarchyGroup,
		made: func(v *Inventories, o *object.Object) []*object.Object {
			return v.labelledFor(o.Namespace != "", inheritedLabel, o.Namespace, func(x *object.Object) bool { return x.Name == o.Name && x.GroupKind() == o.GroupKind() })
		},
	},
	{
		// What was cloned stays.
		//
		// Source: kyverno, pkg/background/generate/cleanup.go GenerateController.deleteDownstream;
		// kyverno.io/docs/policy-types/cluster-policy/generate: Data Source, Clone Source.
		Controller: kyvernoGenerates, group: kyvernoGroup, when: "its rule synchronizes and does not orphan them",
		made: func(v *Inventories, o *object.Object) []*object.Object {
			isPolicy := (o.Group() == kyvernoGroup || o.Group() == "policies."+kyvernoGroup) &&
				slices.Contains([]string{"ClusterPolicy", "Policy", "GeneratingPolicy", "NamespacedGeneratingPolicy"}, o.Kind)
			return v.labelledFor(isPolicy, policyLabel, o.Name, func(x *object.Object) bool {
				return x.Labels.Get(policyNamespaceLabel) == o.Namespace && !x.Labels.Has(generatedLabel+"source-kind")
			})
		},
	},
	{
		// Source: kyverno, pkg/webhooks/resource/generation/handler.go generationHandler.Handle.
		Controller: kyvernoGenerates, group: kyvernoGroup, when: "its rule synchronizes",
		made: func(v *Inventories, o *object.Object) []*object.Object {
			return append(v.generatedFor("trigger", o), v.generatedFor("source", o)...)
		},
	},
	{
		// Source: k3s, pkg/cloudprovider/servicelb.go k3s.EnsureLoadBalancerDeleted.
		Controller: Controller{Name: "the service load balancer of K3s"}, group: k3sGroup,
		made: func(v *Inventories, o *object.Object) []*object.Object {
			return v.labelledFor(o.Is(object.Service), balancerLabel, o.Name, func(x *object.Object) bool { return x.Labels.Get(balancedLabel) == o.Namespace })
		},
	},
}

// makerLabels are the labels by which makers find what they made.
var makerLabels = []string{
	envoyLabel, contourLabel, inheritedLabel, balancerLabel, policyLabel,
	generatedLabel + "trigger-uid", generatedLabel + "trigger-name", generatedLabel + "source-uid", generatedLabel + "source-name",
}

func init() {
	for _, label := range makerLabels {
		memberLabels[label] = func(o *object.Object) bool { return len(o.Owners) == 0 }
	}
}

// MadeFor calls visit for each controller that deletes existing objects once an object is gone, with the
// condition of that; empty for none. The objects have no owner references and are not being deleted.
func (v *Inventories) MadeFor(o *object.Object, visit func(by *Controller, when string, made []*object.Object)) {
	for i := range makers {
		m := &makers[i]
		if !v.serves(m.group) {
			continue
		}
		made := slices.DeleteFunc(m.made(v, o), func(x *object.Object) bool { return x == o || x.BeingDeleted() })
		if len(made) > 0 {
			visit(&m.Controller, m.when, made)
		}
	}
}

// MayBeMadeFor reports whether controllers may have made objects for an object in other namespaces.
func (v *Inventories) MayBeMadeFor(o *object.Object) bool {
	return v.serves(hierarchyGroup) && o.Namespace != "" && len(o.Owners) == 0 ||
		v.serves(envoyGroup) && isGateway(o) || v.serves(k3sGroup) && o.Is(object.Service) ||
		v.serves(kyvernoGroup) && o.Labels.Has(cloneSourceLabel)
}

func isGateway(o *object.Object) bool { return o.Kind == "Gateway" && o.Group() == gatewayGroup }

// labelledFor returns the objects with a label of makerLabels and a value that are made for an object; nil
// unless may is true.
func (v *Inventories) labelledFor(may bool, key, value string, isMade func(*object.Object) bool) (list []*object.Object) {
	if !may {
		return nil
	}
	for _, x := range v.labelledWith(key, value) {
		if isMade(x) {
			list = append(list, x)
		}
	}
	return list
}

// generatedFor returns what Kyverno has generated for a trigger, or from a source. Kyverno before 1.11 writes
// the name of that, and later ones the uid.
func (v *Inventories) generatedFor(role string, o *object.Object) []*object.Object {
	with := generatedLabel + role
	is := func(x *object.Object) bool {
		return x.Labels.Get(with+"-kind") == o.Kind && x.Labels.Get(with+"-group") == o.Group() && x.Labels.Get(with+"-namespace") == o.Namespace
	}
	list := v.labelledFor(true, with+"-uid", string(o.UID), is)
	return append(list, v.labelledFor(true, with+"-name", o.Name, func(x *object.Object) bool { return is(x) && !x.Labels.Has(with+"-uid") })...)
}

// serves reports whether the cluster serves kinds of an API group.
func (v *Inventories) serves(group string) bool {
	if v.groups == nil {
		v.groups = map[string]bool{}
		for _, r := range v.snap.Resources.All() {
			v.groups[r.Group] = true
		}
	}
	return v.groups[group]
}
