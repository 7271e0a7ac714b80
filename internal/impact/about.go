package impact

import (
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// About returns the snapshot reduced to the objects that decide whether and when a background delete
// of deleted also deletes target. Unlike Part, it leaves out other objects that the delete reaches:
// siblings of target, and the rest of its namespace. It returns the whole snapshot if objects share a
// uid.
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

// about is the part that About builds. In it, an object is reached if it must be gone before
// something happens to the target. For an object that only decides, the start of its deletion is
// enough.
type about struct {
	part
	deleted *object.Object
	// ordered has the namespaces with pods that must be gone before something happens to the target.
	// onNodes and labelled have the kinds of pods already visited in them.
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

// order visits the pods of a namespace that may be deleted: its other content waits for them.
// (KEP-5080)
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

// first reports whether a pod may stay although all pods visited before go. A pod without finalizers
// can stay only because of its kubelet, or because a webhook that selects it refuses. One pod per
// node and one per set of labels are therefore enough.
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

// onNode identifies pods that their kubelet ends alike. labelled identifies pods that the same
// webhooks select.
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

// mayGo reports whether the delete may affect an object that no other object waits for.
func (a *about) mayGo(o *object.Object) bool {
	return o == a.deleted || a.restless[o] || len(o.Owners) > 0 || len(a.leaders[o]) > 0
}

// waits reports whether other objects may have to be deleted before o is, or must exist for the
// collector to consider o.
func (a *about) waits(o *object.Object) bool {
	return a.restless[o] || Container(o) || a.unwatched[o.UID] != nil
}

// empty returns a part with only the nodes. Whether a node stays decides about pods that have lost
// theirs.
func (m *Map) empty() part {
	p := part{Map: m, depths: depthsIn(m.snap), asked: map[graph.ID]bool{}, using: map[string]bool{}, used: map[string]bool{}}
	for _, o := range m.everywhere {
		if o.Is(object.Node) {
			p.visit(o, decides)
		}
	}
	return p
}
