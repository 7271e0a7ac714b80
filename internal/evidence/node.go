package evidence

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// NodeState says whether the kubelet of a node can terminate a pod.
type NodeState string

// The states of nodes.
const (
	// NodeUnknown: not enough was read, or the kubelet reports Ready=False. Such a kubelet may
	// still terminate pods, for example while it waits for its network plugin.
	NodeUnknown NodeState = "Unknown"
	// NodeReady: the kubelet reports Ready=True.
	NodeReady NodeState = "Ready"
	// NodeNotReady: the kubelet has stopped reporting.
	NodeNotReady NodeState = "NotReady"
	// NodeAbsent: all nodes were read, and this one does not exist.
	NodeAbsent NodeState = "Absent"
)

// silence is the age of a heartbeat, in seconds, after which a kubelet counts as stopped if its
// lease was not read. A kubelet reports at least every five minutes.
//
// Upstream: pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration.
const silence = 900

// Node returns the state of a node, with its Ready condition if it was read.
//
// Upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go Controller.tryUpdateNodeHealth:
// sets Ready to Unknown if a kubelet has stopped reporting. Only the kubelet itself reports False.
func (s *Surroundings) Node(name string) (NodeState, Condition) {
	n, known := s.nodesSeen[name]
	switch {
	case name == "":
		return NodeUnknown, Condition{}
	case s.nodes && s.snap.FindKind(object.Node, "", name) == nil && s.snap.Covers(object.Node.Resource(), "") &&
		s.snap.UnseenNode(name) == "":
		return NodeAbsent, Condition{}
	case !known || n.Ready.Status == "":
		return NodeUnknown, Condition{}
	case n.Ready.Status == "Unknown":
		return NodeNotReady, n.Ready
	}
	if last, stopped := s.stopped(n); stopped {
		return NodeNotReady, Condition{Type: n.Ready.Type, Status: n.Ready.Status, Reason: n.Ready.Reason, Message: "its kubelet reported last" + stampText(last), Since: last}
	}
	if n.Ready.True() {
		return NodeReady, n.Ready
	}
	return NodeUnknown, n.Ready
}

// stopped reports whether the kubelet of a node has stopped reporting, and the time of its last
// report.
func (s *Surroundings) stopped(n *Node) (last int64, stopped bool) {
	if l := s.nodeLeases[n.Name]; l != nil && l.Renewed != 0 {
		return l.Renewed, s.pulseOf(l) == object.PulseStopped
	}
	return n.Heartbeat, s.now != 0 && n.Heartbeat != 0 && s.now-n.Heartbeat > silence
}
