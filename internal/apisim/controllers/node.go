package controllers

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// nodes are the nodes in the world, and those that existed before the simulation.
type nodes struct {
	names map[string]bool
	// before are the names of the nodes that Look recorded.
	before map[string]bool
}

// lookout remembers the nodes that existed before the simulation.
type lookout struct{ before map[string]bool }

// Look records the nodes.
func (l *lookout) Look(w World) { l.before = nodeNames(w) }

// nodesOf returns the current nodes.
func (l *lookout) nodesOf(w World) nodes { return nodes{names: nodeNames(w), before: l.before} }

func nodeNames(w World) map[string]bool {
	names := map[string]bool{}
	for _, o := range w.ObjectsOf(object.Node.GroupResource(), "") {
		names[o.Name] = true
	}
	return names
}

// misses reports whether no kubelet can finish the pod: it was never scheduled, or its node is
// lost. A pod without facts is assumed to be on an existing node.
func (n nodes) misses(pod *object.Object) bool {
	facts := pod.Pod()
	return facts != nil && facts.NodeName == "" || n.lost(pod)
}

// lost reports whether the node of the pod is missing. A world that never had a node says nothing
// about nodes, even if it claims to be complete.
func (n nodes) lost(pod *object.Object) bool {
	facts := pod.Pod()
	return facts != nil && facts.NodeName != "" && !n.names[facts.NodeName] && (len(n.names) > 0 || n.before[facts.NodeName])
}

// deleted reports whether the node of the pod existed before the simulation and is missing now.
func (n nodes) deleted(pod *object.Object) bool {
	return n.lost(pod) && n.before[pod.Pod().NodeName]
}
