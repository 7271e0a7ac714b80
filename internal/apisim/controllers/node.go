package controllers

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// The resources that the controllers know by name.
var (
	podResource        = schema.GroupResource{Resource: "pods"}
	nodeResource       = schema.GroupResource{Resource: "nodes"}
	claimResource      = schema.GroupResource{Resource: "persistentvolumeclaims"}
	volumeResource     = schema.GroupResource{Resource: "persistentvolumes"}
	jobResource        = schema.GroupResource{Group: "batch", Resource: "jobs"}
	namespaceResource  = schema.GroupResource{Resource: "namespaces"}
	endpointsResource  = schema.GroupResource{Resource: "endpoints"}
	sliceResource      = schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"}
	serviceResource    = schema.GroupResource{Resource: "services"}
	deviceResource     = schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}
	cidrResource       = schema.GroupResource{Group: "networking.k8s.io", Resource: "servicecidrs"}
	addressResource    = schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}
	apiServiceResource = schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}
	secretResource     = schema.GroupResource{Resource: "secrets"}
	accountResource    = schema.GroupResource{Resource: "serviceaccounts"}
	definitionResource = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
)

// The same ones as a coverage is asked about them and a wait names them, whether
// or not the snapshot says that they are served.
var (
	pods        = object.Resource{Version: "v1", Name: podResource.Resource, Kind: "Pod", Namespaced: true}
	everyNode   = object.Resource{Version: "v1", Name: nodeResource.Resource, Kind: "Node"}
	everyClaim  = object.Resource{Version: "v1", Name: claimResource.Resource, Kind: "PersistentVolumeClaim", Namespaced: true}
	everyJob    = object.Resource{Group: jobResource.Group, Version: "v1", Name: jobResource.Resource, Kind: jobKind, Namespaced: true}
	everyCIDR   = object.Resource{Group: cidrResource.Group, Version: "v1", Name: cidrResource.Resource, Kind: "ServiceCIDR"}
	everyIP     = object.Resource{Group: addressResource.Group, Version: "v1", Name: addressResource.Resource, Kind: "IPAddress"}
	accounts    = object.Resource{Version: "v1", Name: accountResource.Resource, Kind: "ServiceAccount", Namespaced: true}
	definitions = object.Resource{
		Group: definitionResource.Group, Version: "v1", Name: definitionResource.Resource, Kind: "CustomResourceDefinition",
	}
)

// nodes are the names of the nodes in the world. A world without a single one
// says nothing about nodes, however complete it claims to be.
type nodes map[string]bool

func nodesOf(w World) nodes {
	n := nodes{}
	for _, o := range w.ObjectsOf(nodeResource, "") {
		n[o.Name] = true
	}
	return n
}

// misses tells whether no kubelet can finish the pod: it was never scheduled, or
// its node is not among the nodes. A pod of which nothing is known is taken for
// one on a node that is there.
func (n nodes) misses(pod *object.Object) bool {
	facts := pod.Pod()
	return facts != nil && facts.NodeName == "" || n.lost(pod)
}

// lost tells whether the pod is on a node that is not among the nodes.
func (n nodes) lost(pod *object.Object) bool {
	facts := pod.Pod()
	return facts != nil && len(n) > 0 && facts.NodeName != "" && !n[facts.NodeName]
}
