package controllers

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// nodes are the nodes in the world, and those that were in it before anything happened.
type nodes struct {
	names map[string]bool
	// before are the names of the nodes that Look has seen.
	before map[string]bool
}

// lookout remembers the nodes of a world before anything happens.
type lookout struct{ before map[string]bool }

// Look takes note of the nodes.
func (l *lookout) Look(w World) { l.before = nodeNames(w) }

// nodesOf returns the nodes of the world as it is now.
func (l *lookout) nodesOf(w World) nodes { return nodes{names: nodeNames(w), before: l.before} }

func nodeNames(w World) map[string]bool {
	names := map[string]bool{}
	for _, o := range w.ObjectsOf(object.Node.GroupResource(), "") {
		names[o.Name] = true
	}
	return names
}

// misses reports whether no kubelet can finish the pod: it was never scheduled, or
// its node is lost. A pod without facts is taken for one on a node that is there.
func (n nodes) misses(pod *object.Object) bool {
	facts := pod.Pod()
	return facts != nil && facts.NodeName == "" || n.lost(pod)
}

// lost reports whether the pod is on a node that is not among the nodes. A world that never had
// a node says nothing about nodes, however complete it claims to be.
func (n nodes) lost(pod *object.Object) bool {
	facts := pod.Pod()
	return facts != nil && facts.NodeName != "" && !n.names[facts.NodeName] && (len(n.names) > 0 || n.before[facts.NodeName])
}

// deleted reports whether the pod is on a node that was seen, and has gone since.
func (n nodes) deleted(pod *object.Object) bool {
	return n.lost(pod) && n.before[pod.Pod().NodeName]
}
