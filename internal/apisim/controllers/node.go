package controllers

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// nodes are the names of the nodes in the world. A world without a single one
// says nothing about nodes, however complete it claims to be.
type nodes map[string]bool

func nodesOf(w World) nodes {
	n := nodes{}
	for _, o := range w.ObjectsOf(object.Node.GroupResource(), "") {
		n[o.Name] = true
	}
	return n
}

// misses reports whether no kubelet can finish the pod: it was never scheduled, or
// its node is not among the nodes. A pod of which nothing is known is taken for
// one on a node that is there.
func (n nodes) misses(pod *object.Object) bool {
	facts := pod.Pod()
	return facts != nil && facts.NodeName == "" || n.lost(pod)
}

// lost reports whether the pod is on a node that is not among the nodes.
func (n nodes) lost(pod *object.Object) bool {
	facts := pod.Pod()
	return facts != nil && len(n) > 0 && facts.NodeName != "" && !n[facts.NodeName]
}
