package impact

import (
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// About is the snapshot reduced to what can decide whether a delete of one object in the
// background takes another one, and when. Unlike in Part, what else the delete takes is left
// out: siblings of the target, and the rest of its namespace. It is the whole snapshot where
// objects share a uid.
func (m *Map) About(target, deleted *object.Object) *snapshot.Snapshot {
	if m.shared {
		return m.snap
	}
	a := about{part: m.empty(), deleted: deleted, ordered: map[string]bool{}, onNodes: map[onNode]bool{}, labelled: map[labelled]bool{}}
	a.visit(target, reached)
	a.visit(deleted, decides)
	for len(a.open) > 0 {
		o := a.open[len(a.open)-1]
		a.open = a.open[:len(a.open)-1]
		a.spread(o)
	}
	return m.cut(a.part)
}

// about is such a part while it grows. Reached is what has to be gone before something happens
// to the target; of what only decides it is enough that its deletion begins.
type about struct {
	part
	deleted *object.Object
	// ordered are the namespaces whose pods have to go before something happens to the target,
	// onNodes and labelled what was met of them.
	ordered  map[string]bool
	onNodes  map[onNode]bool
	labelled map[labelled]bool
}

func (a *about) spread(o *object.Object) {
	for _, x := range a.owners(o) {
		a.visit(x, reached)
	}
	for _, x := range a.containers(o) {
		switch {
		case x.Is(object.Namespace) && x.Name == o.Namespace:
			a.visit(x, decides)
			if !o.Is(object.Pod) {
				a.order(x)
			}
		case x.Is(object.CRD) && !a.mayGo(x):
			a.visit(x, decides)
		default:
			a.visit(x, reached)
		}
	}
	a.visitSiblings(o)
	if a.at(o) != reached && a.unwatched[o.UID] == nil {
		return
	}
	if a.waits(o) {
		for _, x := range a.Below(o) {
			a.visit(x, reached)
		}
	}
	for _, x := range a.holders(o, a.used) {
		a.visit(x, reached)
	}
}

// order visits the pods of a namespace if it may go: all else in it waits for them. (KEP-5080)
func (a *about) order(namespace *object.Object) {
	if a.ordered[namespace.Name] || !a.mayGo(namespace) {
		return
	}
	a.ordered[namespace.Name] = true
	for _, x := range a.Map.snap.In(object.Pod.GroupResource(), namespace.Name) {
		if a.first(x) {
			a.visit(x, reached)
		}
	}
}

// first reports whether a pod may stay where those that were met before go. One that nothing
// holds stays because of its kubelet, or because a webhook that selects it refuses: it is enough
// to know one on each node, and one with each set of labels.
func (a *about) first(pod *object.Object) bool {
	facts := pod.Pod()
	if facts == nil || a.restless[pod] || len(pod.Finalizers()) > 0 {
		return true
	}
	node := onNode{namespace: pod.Namespace, node: facts.NodeName, phase: facts.Phase, mirror: facts.Mirror, whole: facts.VolumesKnown, grace: -1}
	if facts.TerminationGracePeriod != nil {
		node.grace = *facts.TerminationGracePeriod
	}
	labels := labelled{namespace: pod.Namespace, labels: pod.Labels}
	if a.onNodes[node] && a.labelled[labels] {
		return false
	}
	a.onNodes[node], a.labelled[labels] = true, true
	return true
}

// onNode are pods that their kubelet ends alike, labelled those that the same webhooks select.
type (
	onNode struct {
		namespace, node, phase string
		mirror, whole          bool
		grace                  int64
	}
	labelled struct {
		namespace string
		labels    object.Labels
	}
)

// mayGo reports whether the delete can have to do with an object that nobody waits for.
func (a *about) mayGo(o *object.Object) bool {
	return o == a.deleted || a.restless[o] || len(o.Owners) > 0 || len(a.leaders[o]) > 0
}

// waits reports whether others may have to go before an object does, or to be there for it to be
// looked at.
func (a *about) waits(o *object.Object) bool {
	return a.restless[o] || Container(o) || a.unwatched[o.UID] != nil
}

// empty is a part in which there are only nodes: whether they stay decides about pods that have
// lost theirs.
func (m *Map) empty() part {
	p := part{Map: m, depths: depthsIn(m.snap), asked: map[graph.ID]bool{}, using: map[string]bool{}, used: map[string]bool{}}
	for _, o := range m.everywhere {
		if o.Is(object.Node) {
			p.visit(o, decides)
		}
	}
	return p
}
