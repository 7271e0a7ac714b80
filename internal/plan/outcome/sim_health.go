package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Health is the known health of the controllers, APIs and webhooks other than the collector, from
// Assessment. It implements the coverage, health and discovery of a simulated cluster. If
// Assessment is nil, everything is assumed to work.
type Health struct {
	*snapshot.Snapshot
	Assessment *health.Assessment
	// Overdue has the overdue deletions; nil for none.
	Overdue *Overdue
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
	_ controllers.Coverage  = (*Health)(nil)
	_ controllers.Discovery = (*Health)(nil)
	_ controllers.Moments   = (*Health)(nil)
	_ controllers.Health    = (*Health)(nil)
)

// NewHealth returns the health for a snapshot. assessment may be nil.
func NewHealth(snap *snapshot.Snapshot, assessment *health.Assessment) *Health {
	return &Health{Snapshot: snap, Assessment: assessment, Refused: map[object.Ref]health.Refusal{}}
}

// Hidden returns why the content of a namespace or a definition cannot be listed, if that blocks its
// deletion: the conversion fails for every client.
func (h *Health) Hidden(o *object.Object) (health.Refusal, bool) {
	switch {
	case h.Assessment == nil:
	case o.Is(object.Namespace):
		return h.Assessment.Unreadable(o.Name)
	case o.Definition() != nil:
		return h.Assessment.Cleanup(o)
	}
	return health.Refusal{}, false
}

// Kubelet returns why the kubelet of a node does not end pods; empty if no reason is known.
func (h *Health) Kubelet(node string) string {
	if h.Assessment == nil {
		return ""
	}
	state, ready := h.Assessment.Node(node)
	if state != health.NodeNotReady {
		return ""
	}
	text := "Ready is " + ready.Status
	if ready.Message != "" {
		text += ": " + health.Clip(ready.Message)
	}
	return text
}

// PodGC returns why pod GC has not removed a pod that no kubelet ends; empty if no reason is known. A pod
// that was not being deleted in the snapshot is never overdue.
func (h *Health) PodGC(pod *object.Object) string {
	if h.Assessment == nil {
		return ""
	}
	if seen := h.Snapshot.Find(pod.APIVersion, pod.Kind, pod.Namespace, pod.Name); seen == nil || !h.Assessment.Overdue(seen) || h.Assessment.PodGCTakesOver(seen) {
		return ""
	}
	return "pod GC has not removed it for minutes"
}

// OutOfService reports whether pod GC ends the pods of a node in place of its kubelet.
func (h *Health) OutOfService(node string) bool {
	return h.Assessment != nil && h.Assessment.OutOfService(node)
}

// Undiscovered lists the API versions that discovery lacks: those of the snapshot, those of
// APIServices that do not answer, and LostAPIs.
func (h *Health) Undiscovered() []object.Undiscovered {
	list := slices.Concat(h.Snapshot.Undiscovered(), h.LostAPIs)
	if h.Assessment == nil {
		return list
	}
	list = slices.DeleteFunc(list, func(u object.Undiscovered) bool { return h.Assessment.Unregistered(u.APIVersion) })
	for _, a := range h.Assessment.APIServices() {
		version := object.Resource{Group: a.Group, Version: a.Version}.APIVersion()
		list = slices.DeleteFunc(slices.Clone(list), func(u object.Undiscovered) bool { return u.APIVersion == version })
		list = append(list, object.Undiscovered{APIVersion: version, Why: "APIService " + a.Name + " does not answer: " + health.Clip(a.Available.Message)})
	}
	return list
}

// unanswered reports whether an APIService was seen that makes discovery fail.
func (h *Health) unanswered() bool { return h.Assessment != nil && len(h.Assessment.APIServices()) > 0 }

// managed reports whether kube-controller-manager was seen to run.
func (h *Health) managed() bool {
	if !h.asked && h.Assessment != nil {
		h.runs = h.Assessment.ManagerRuns()
	}
	h.asked = true
	return h.runs
}

// namespaceRuns is what remains to be assumed about the namespace controller if the health of
// discovery, admission and conversion is known.
const namespaceRuns = "the namespace controller runs"

// ready reports whether a node was seen to be ready. It caches, because a node has many pods.
func (h *Health) ready(node string) bool {
	yes, known := h.nodes[node]
	if !known {
		state, _ := h.Assessment.Node(node)
		yes = state == health.NodeReady
		if h.nodes == nil {
			h.nodes = map[string]bool{}
		}
		h.nodes[node] = yes
	}
	return yes
}

// unseen returns the part of the assumption behind a controller's step that the snapshot does not
// confirm; empty if it confirms all of it.
func (h *Health) unseen(actor, assumption string, o *object.Object) string {
	seen := false
	switch {
	case h.Assessment == nil:
	case actor == controllers.KubeletName:
		if pod := o.Pod(); pod != nil {
			seen = h.ready(pod.NodeName)
		}
	case actor == controllers.PodGCName && o.Pod() != nil && h.OutOfService(o.Pod().NodeName):
		assumption, seen = "pod GC runs", h.managed()
	case actor == controllers.NamespaceName:
		if h.unanswered() || h.Assessment.Obstructed() || h.Assessment.Discovered() && h.Assessment.Admitted() && h.Assessment.Converted() {
			assumption, seen = namespaceRuns, h.managed()
		}
	case actor == controllers.DefinitionName:
		seen = h.Assessment.Converted()
	case actor == controllers.JobName, actor == controllers.EndpointsName:
		seen = h.managed()
	}
	if seen {
		return ""
	}
	return assumption
}

// Recovery returns, as a clause after "once", the condition under which the collector will send what
// it does not send now, or the API server will accept the writes that it refuses now.
func (h *Health) Recovery() string {
	if h.Overdue != nil && h.Overdue.CollectorStopped {
		return "the garbage collector works again"
	}
	policies := 0
	for _, r := range h.Refused {
		if r.Denial != nil {
			policies++
		}
	}
	unreachable := len(h.Undiscovered()) > 0 || policies < len(h.Refused) || h.Assessment != nil && len(h.Assessment.UnreachableConversions()) > 0
	switch {
	case unreachable && policies > 0:
		return "the unreachable API recovers and the admission policy allows it"
	case unreachable:
		return "the unreachable API recovers"
	case policies > 0:
		return "the admission policy allows it"
	case h.Overdue == nil && !h.Obstructed():
		return "the node works again"
	default:
		return "what it waits for works again"
	}
}

// Obstructed reports whether webhooks are known that do not answer, or policies that may deny.
func (h *Health) Obstructed() bool { return h.Assessment != nil && h.Assessment.Obstructed() }
