package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Neighbours is the known health of the controllers, APIs and webhooks other than the collector,
// from Around. It implements the coverage, health and discovery of a simulated cluster. If Around
// is nil, everything is assumed to work.
type Neighbours struct {
	*snapshot.Snapshot
	Around *health.Assessment
	// Late has the overdue deletions; nil for none.
	Late *Late
	// Refused has the objects with refused writes, and why the last one was refused.
	Refused map[object.Ref]health.Refusal
	// LostAPIs are the versions of aggregated APIs whose Service or pods the simulation has deleted.
	LostAPIs []object.Undiscovered
	// asked and runs cache whether kube-controller-manager was seen to run.
	asked, runs bool
	// nodes caches which nodes were seen to be ready.
	nodes map[string]bool
}

var (
	_ controllers.Coverage  = (*Neighbours)(nil)
	_ controllers.Discovery = (*Neighbours)(nil)
	_ controllers.Moments   = (*Neighbours)(nil)
	_ controllers.Health    = (*Neighbours)(nil)
)

// NewNeighbours returns the neighbours for a snapshot. around may be nil.
func NewNeighbours(snap *snapshot.Snapshot, around *health.Assessment) *Neighbours {
	return &Neighbours{Snapshot: snap, Around: around, Refused: map[object.Ref]health.Refusal{}}
}

// Hidden returns why the content of a namespace or a definition cannot be listed, if that blocks its
// deletion: the conversion fails for every client.
func (n *Neighbours) Hidden(o *object.Object) (health.Refusal, bool) {
	switch {
	case n.Around == nil:
	case o.Is(object.Namespace):
		return n.Around.Unreadable(o.Name)
	case o.Definition() != nil:
		return n.Around.Cleanup(o)
	}
	return health.Refusal{}, false
}

// Kubelet returns why the kubelet of a node does not end pods; empty if no reason is known.
func (n *Neighbours) Kubelet(node string) string {
	if n.Around == nil {
		return ""
	}
	state, ready := n.Around.Node(node)
	if state != health.NodeNotReady {
		return ""
	}
	text := "Ready is " + ready.Status
	if ready.Message != "" {
		text += ": " + health.Clip(ready.Message)
	}
	return text
}

// PodGC returns why pod GC has not removed a pod without a node; empty if no reason is known. A pod
// that was not being deleted in the snapshot is never overdue.
func (n *Neighbours) PodGC(pod *object.Object) string {
	if n.Around == nil {
		return ""
	}
	if seen := n.Snapshot.Find(pod.APIVersion, pod.Kind, pod.Namespace, pod.Name); seen == nil || !n.Around.Overdue(seen) {
		return ""
	}
	return "pod GC has not removed it for minutes"
}

// Undiscovered lists the API versions that discovery lacks: those of the snapshot, those of
// APIServices that do not answer, and LostAPIs.
func (n *Neighbours) Undiscovered() []object.Undiscovered {
	list := slices.Concat(n.Snapshot.Undiscovered(), n.LostAPIs)
	if n.Around == nil {
		return list
	}
	for _, a := range n.Around.APIServices() {
		version := object.Resource{Group: a.Group, Version: a.Version}.APIVersion()
		list = slices.DeleteFunc(slices.Clone(list), func(u object.Undiscovered) bool { return u.APIVersion == version })
		list = append(list, object.Undiscovered{APIVersion: version, Why: "APIService " + a.Name + " does not answer: " + health.Clip(a.Available.Message)})
	}
	return list
}

// unanswered reports whether an APIService was seen that makes discovery fail.
func (n *Neighbours) unanswered() bool { return n.Around != nil && len(n.Around.APIServices()) > 0 }

// managed reports whether kube-controller-manager was seen to run.
func (n *Neighbours) managed() bool {
	if !n.asked && n.Around != nil {
		n.runs = n.Around.ManagerRuns()
	}
	n.asked = true
	return n.runs
}

// namespaceRuns is what remains to be assumed about the namespace controller if the health of
// discovery, admission and conversion is known.
const namespaceRuns = "the namespace controller runs"

// ready reports whether a node was seen to be ready. It caches, because a node has many pods.
func (n *Neighbours) ready(node string) bool {
	yes, known := n.nodes[node]
	if !known {
		state, _ := n.Around.Node(node)
		yes = state == health.NodeReady
		if n.nodes == nil {
			n.nodes = map[string]bool{}
		}
		n.nodes[node] = yes
	}
	return yes
}

// unseen returns the part of the assumption behind a controller's step that the snapshot does not
// confirm; empty if it confirms all of it.
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

// Recovery returns, as a clause after "once", the condition under which the collector will send what
// it does not send now, or the API server will accept the writes that it refuses now.
func (n *Neighbours) Recovery() string {
	if n.Late != nil && n.Late.CollectorStopped {
		return "the garbage collector works again"
	}
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
