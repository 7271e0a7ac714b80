package controllers

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// The resources that the controllers know by name.
var (
	podResource        = schema.GroupResource{Resource: "pods"}
	nodeResource       = schema.GroupResource{Resource: "nodes"}
	namespaceResource  = schema.GroupResource{Resource: "namespaces"}
	definitionResource = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
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
	if facts == nil {
		return false
	}
	return facts.NodeName == "" || n.lost(facts)
}

func (n nodes) lost(facts *object.Pod) bool {
	return len(n) > 0 && facts.NodeName != "" && !n[facts.NodeName]
}

// podsOf is the resource of pods.
func podsOf(w World) object.Resource { return resourceOf(w, podResource, "v1", "Pod", true) }

// resourceOf is the resource as it is served, or else as it is known to be.
func resourceOf(w World, gr schema.GroupResource, version, kind string, namespaced bool) object.Resource {
	if r, ok := w.Resources().Preferred(gr); ok {
		return r
	}
	return object.Resource{Group: gr.Group, Version: version, Name: gr.Resource, Kind: kind, Namespaced: namespaced}
}
