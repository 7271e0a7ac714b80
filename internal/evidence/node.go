package evidence

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// NodeState says whether the kubelet of a node can end a pod.
type NodeState string

// The states of nodes.
const (
	// NodeUnknown: not enough was seen to say, or the kubelet reports and Ready is False: it
	// may still end pods, as one does that waits for its network plugin.
	NodeUnknown NodeState = "Unknown"
	// NodeReady: its kubelet reports to the API server that all is well.
	NodeReady NodeState = "Ready"
	// NodeNotReady: its kubelet does not report.
	NodeNotReady NodeState = "NotReady"
	// NodeAbsent: all nodes were seen, and it is none of them.
	NodeAbsent NodeState = "Absent"
)

// silence is after how many seconds without a heartbeat a kubelet does not report any more, where
// its lease was not seen. It reports every five minutes if nothing changes.
//
// Upstream: pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration.
const silence = 900

// Node tells the state of a node, with the condition Ready as far as it was seen.
//
// Upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go Controller.tryUpdateNodeHealth:
// sets Ready to Unknown where a kubelet has stopped to report; False is what a kubelet reports itself.
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

// stopped reports whether the kubelet of a node has stopped to report, and when it did so last.
func (s *Surroundings) stopped(n *Node) (last int64, stopped bool) {
	if l := s.nodeLeases[n.Name]; l != nil && l.Renewed != 0 {
		return l.Renewed, s.pulseOf(l) == object.PulseStopped
	}
	return n.Heartbeat, s.now != 0 && n.Heartbeat != 0 && s.now-n.Heartbeat > silence
}
