package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Neighbours are those who act beside the collector, as far as the surroundings show
// whether they do their part. It is the coverage, the health and the admission of a
// simulated world. Without surroundings nothing is known of them, and all is assumed.
type Neighbours struct {
	*snapshot.Snapshot
	Around *evidence.Surroundings
	// Late are the deletions with which somebody is late; nil for none.
	Late *Late
	// Refused are the objects to which a write was refused, with the last reason.
	Refused map[object.Ref]evidence.Refusal
	// asked and runs remember whether kube-controller-manager was seen to run.
	asked, runs bool
	// nodes remember which were seen to be ready.
	nodes map[string]bool
}

var (
	_ controllers.Coverage  = (*Neighbours)(nil)
	_ controllers.Discovery = (*Neighbours)(nil)
	_ controllers.Moments   = (*Neighbours)(nil)
	_ controllers.Health    = (*Neighbours)(nil)
)

// NewNeighbours are those beside the collector of a snapshot; of around, which may be nil, is
// known how they are.
func NewNeighbours(snap *snapshot.Snapshot, around *evidence.Surroundings) *Neighbours {
	return &Neighbours{Snapshot: snap, Around: around, Refused: map[object.Ref]evidence.Refusal{}}
}

// Hidden is why the content of a namespace or a definition could not be listed, where
// that keeps it: its conversion fails for whoever asks.
func (n *Neighbours) Hidden(o *object.Object) (evidence.Refusal, bool) {
	switch {
	case n.Around == nil:
	case o.Is(object.Namespace):
		return n.Around.Unreadable(o.Name)
	case o.Definition() != nil:
		return n.Around.Cleanup(o)
	}
	return evidence.Refusal{}, false
}

// Kubelet says why the kubelet of a node does not end pods.
func (n *Neighbours) Kubelet(node string) string {
	if n.Around == nil {
		return ""
	}
	state, ready := n.Around.Node(node)
	if state != evidence.NodeNotReady {
		return ""
	}
	text := "Ready is " + ready.Status
	if ready.Message != "" {
		text += ": " + evidence.Clip(ready.Message)
	}
	return text
}

// PodGC says why pod GC has not removed a pod whose node is missing. It has had no time for
// one that was not being deleted when it was seen.
func (n *Neighbours) PodGC(pod *object.Object) string {
	if n.Around == nil {
		return ""
	}
	if seen := n.Snapshot.Find(pod.APIVersion, pod.Kind, pod.Namespace, pod.Name); seen == nil || !n.Around.Overdue(seen) {
		return ""
	}
	return "pod GC has not removed it for minutes"
}

// Undiscovered lists the API versions that the server cannot name: those of the
// snapshot, and those behind an APIService that does not answer.
func (n *Neighbours) Undiscovered() []object.Undiscovered {
	list := n.Snapshot.Undiscovered()
	if n.Around == nil {
		return list
	}
	for _, a := range n.Around.APIServices() {
		version := object.Resource{Group: a.Group, Version: a.Version}.APIVersion()
		list = slices.DeleteFunc(slices.Clone(list), func(u object.Undiscovered) bool { return u.APIVersion == version })
		list = append(list, object.Undiscovered{APIVersion: version, Why: "APIService " + a.Name + " does not answer: " + evidence.Clip(a.Available.Message)})
	}
	return list
}

// unanswered reports whether discovery fails because of an APIService that was seen.
func (n *Neighbours) unanswered() bool { return n.Around != nil && len(n.Around.APIServices()) > 0 }

// managed reports whether kube-controller-manager was seen to run.
func (n *Neighbours) managed() bool {
	if !n.asked && n.Around != nil {
		n.runs = n.Around.ManagerRuns()
	}
	n.asked = true
	return n.runs
}

// namespaceRuns is what is left to assume of the namespace controller where it was seen
// what it needs, or that it has not got it.
const namespaceRuns = "the namespace controller runs"

// ready reports whether a node was seen to be. Nodes have many pods.
func (n *Neighbours) ready(node string) bool {
	yes, known := n.nodes[node]
	if !known {
		state, _ := n.Around.Node(node)
		yes = state == evidence.NodeReady
		if n.nodes == nil {
			n.nodes = map[string]bool{}
		}
		n.nodes[node] = yes
	}
	return yes
}

// unseen is what is left of the assumption on which a controller's part in the end of an
// object rests; empty where all of it was seen.
func (n *Neighbours) unseen(actor, assumption string, o *object.Object) string {
	seen := false
	switch {
	case n.Around == nil:
	case actor == controllers.KubeletName:
		if pod := o.Pod(); pod != nil {
			seen = n.ready(pod.NodeName)
		}
	case actor == controllers.NamespaceName:
		if n.unanswered() || n.Around.Obstructed() || n.Around.Discovered() && n.Around.Admitted() && n.Around.Converted() {
			assumption, seen = namespaceRuns, n.managed()
		}
	case actor == controllers.DefinitionName:
		seen = n.Around.Converted()
	case actor == controllers.JobName, actor == controllers.EndpointsName:
		seen = n.managed()
	}
	if seen {
		return ""
	}
	return assumption
}

// Recovery says when the API server carries out what it refuses now, after "once".
func (n *Neighbours) Recovery() string {
	policies := 0
	for _, r := range n.Refused {
		if r.Denial != nil {
			policies++
		}
	}
	switch {
	case policies == 0:
		return "the unreachable API recovers"
	case policies == len(n.Refused) && n.Late == nil:
		return "the admission policy allows it"
	default:
		return "the unreachable API recovers and the admission policy allows it"
	}
}

// Obstructed reports whether webhooks are known that do not answer, or policies that may deny.
func (n *Neighbours) Obstructed() bool { return n.Around != nil && n.Around.Obstructed() }
