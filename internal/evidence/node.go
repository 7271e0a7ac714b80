package evidence

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// NodeState says whether the kubelet of a node can end a pod.
type NodeState string

// The states of nodes.
const (
	// NodeUnknown: not enough was seen to say.
	NodeUnknown NodeState = "Unknown"
	// NodeReady: its kubelet reports to the API server.
	NodeReady NodeState = "Ready"
	// NodeNotReady: its kubelet does not report, or reports that it cannot work.
	NodeNotReady NodeState = "NotReady"
	// NodeAbsent: all nodes were seen, and it is none of them.
	NodeAbsent NodeState = "Absent"
)

// Node tells the state of a node, with the condition Ready as far as it was seen.
func (s *Surroundings) Node(name string) (NodeState, Condition) {
	ready, known := s.ready[name]
	switch {
	case name == "":
		return NodeUnknown, Condition{}
	case s.nodes && s.snap.FindKind(object.Node, "", name) == nil && s.snap.Covers(object.Node.Resource(), "") &&
		s.snap.UnseenNode(name) == "":
		return NodeAbsent, Condition{}
	case !known || ready.Status == "":
		return NodeUnknown, ready
	case ready.True():
		return NodeReady, ready
	}
	return NodeNotReady, ready
}
