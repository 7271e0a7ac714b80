package kube

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// scenes returns the parts that matter for what the objects wait for.
func (w *witness) scenes() []scene {
	all := func(parts ...evidence.Part) []scene {
		var scenes []scene
		for _, p := range parts {
			scenes = append(scenes, scene{part: p})
		}
		return scenes
	}
	scenes := append(admission(), all(evidence.APIServices, evidence.Leases, evidence.Namespaces)...)
	if w.any(mayBeConverted) {
		scenes = append(scenes, all(evidence.Definitions)...)
	}
	if w.any(func(o *object.Object) bool { return o.Is(object.Pod) }) {
		scenes = append(scenes, all(evidence.Nodes)...)
	}
	if w.any(usesVolumes) {
		scenes = append(scenes, all(evidence.Attachments)...)
	}
	if w.any(mayBeDrained) {
		scenes = append(scenes, all(evidence.Budgets)...)
	}
	scenes = append(scenes, w.consumers()...)
	if w.used {
		scenes = append(scenes, usages()...)
	}
	if w.any(waitsForSomebody) {
		return append(scenes, controllers()...)
	}
	return scenes
}

// admission returns the parts that can refuse a request.
func admission() []scene {
	return []scene{{part: evidence.ValidatingWebhooks}, {part: evidence.MutatingWebhooks}, {part: evidence.Policies}, {part: evidence.PolicyBindings}}
}

// consumers returns the parts with objects that may use one that a finalizer protects.
func (w *witness) consumers() []scene {
	var scenes []scene
	if w.any(func(o *object.Object) bool { return o.Kind == "GatewayClass" }) {
		scenes = append(scenes, scene{part: evidence.Gateways})
	}
	if w.any(func(o *object.Object) bool { return o.Kind == "ResourceFlavor" }) {
		scenes = append(scenes, scene{part: evidence.ClusterQueues})
	}
	return scenes
}

// usages returns the parts with Crossplane's Usages.
func usages() []scene {
	return []scene{{part: evidence.LegacyUsages}, {part: evidence.Usages}, {part: evidence.ClusterUsages}}
}

// controllers returns the parts that show controllers, without leases.
func controllers() []scene {
	var scenes []scene
	for _, p := range []evidence.Part{
		evidence.Pods, evidence.Deployments, evidence.StatefulSets, evidence.DaemonSets,
		evidence.Roles, evidence.RoleBindings, evidence.ClusterRoles, evidence.ClusterBindings,
	} {
		scenes = append(scenes, scene{part: p})
	}
	return scenes
}

// waitsForSomebody reports whether an object waits for a controller, and not only for a kubelet,
// which pods do all the time.
func waitsForSomebody(o *object.Object) bool {
	return len(o.Finalizers()) > 0 || o.Is(object.Namespace)
}

// usesVolumes reports whether an object may wait for a volume to be detached.
func usesVolumes(o *object.Object) bool {
	pod := o.Pod()
	return o.Is(object.PV) || o.Is(object.PVC) || o.Is(object.VolumeAttachment) || o.Is(object.Node) || pod != nil && len(pod.Claims) > 0
}

// mayBeDrained reports whether a node may be drained before an object is deleted.
func mayBeDrained(o *object.Object) bool {
	return o.Is(object.Node) || o.Kind == "Machine" && o.Group() == "cluster.x-k8s.io"
}

// nearby is how many namespaces are read one by one if the cluster-wide list is forbidden.
const nearby = 5

// namespaces returns the first few namespaces of the objects, including objects that are
// namespaces.
func (w *witness) namespaces() []string {
	var names []string
	for _, o := range w.about {
		name := o.Namespace
		if o.Is(object.Namespace) {
			name = o.Name
		}
		if name != "" && !slices.Contains(names, name) && len(names) < nearby {
			names = append(names, name)
		}
	}
	return names
}

func (w *witness) any(is func(*object.Object) bool) bool { return slices.ContainsFunc(w.about, is) }

// mayBeConverted reports whether CRDs may matter for an object: it is a custom resource, or may
// have one as a dependent.
func mayBeConverted(o *object.Object) bool {
	if o.HandlesDependents() {
		return true
	}
	switch group := o.Group(); group {
	case "":
		return o.Is(object.Namespace)
	case "apps", "batch", "policy", "autoscaling", "extensions":
		return false
	default:
		return true
	}
}

// groups returns the objects by kind, in the order of the first object of each.
func (w *witness) groups() [][]*object.Object {
	type kind struct{ apiVersion, kind string }
	at := map[kind]int{}
	var groups [][]*object.Object
	for _, o := range w.about {
		k := kind{o.APIVersion, o.Kind}
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], o)
	}
	return groups
}

// called returns services and EndpointSlices in the namespaces of the services that the API server
// calls.
func (w *witness) called() []scene {
	return w.calledFor(func(*evidence.Webhook) bool { return true })
}

// calledFor is like called, for the admission webhooks that matter.
func (w *witness) calledFor(matters func(*evidence.Webhook) bool) []scene {
	var namespaces []string
	add := func(s *evidence.ServiceRef) {
		if s != nil {
			namespaces = append(namespaces, s.Namespace)
		}
	}
	for _, a := range w.world.APIServices {
		add(a.Service)
	}
	for n := range w.world.Webhooks {
		if h := &w.world.Webhooks[n]; matters(h) {
			add(h.Client.Service)
		}
	}
	for _, d := range w.world.Definitions {
		if d.Conversion != nil {
			add(d.Conversion.Service)
		}
	}
	slices.Sort(namespaces)
	var scenes []scene
	for _, ns := range slices.Compact(namespaces) {
		scenes = append(scenes, scene{evidence.Services, ns}, scene{evidence.Slices, ns})
	}
	return scenes
}
