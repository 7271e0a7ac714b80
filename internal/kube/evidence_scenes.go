package kube

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// scenes are the parts that matter for what the objects wait for.
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

// admission are the parts that could refuse a request.
func admission() []scene {
	return []scene{{part: evidence.ValidatingWebhooks}, {part: evidence.MutatingWebhooks}, {part: evidence.Policies}, {part: evidence.PolicyBindings}}
}

// consumers lists the parts whose objects name an object that a finalizer protects.
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

// usages lists the parts that hold Crossplane's Usages.
func usages() []scene {
	return []scene{{part: evidence.LegacyUsages}, {part: evidence.Usages}, {part: evidence.ClusterUsages}}
}

// controllers are the parts in which whoever removes a finalizer may be, without leases.
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

// waitsForSomebody reports whether an object waits for a controller, and not only for a
// kubelet, as pods do all day.
func waitsForSomebody(o *object.Object) bool {
	return len(o.Finalizers()) > 0 || o.Is(object.Namespace)
}

// usesVolumes reports whether an object may wait for a volume to be detached.
func usesVolumes(o *object.Object) bool {
	pod := o.Pod()
	return o.Is(object.PV) || o.Is(object.PVC) || o.Is(object.VolumeAttachment) || o.Is(object.Node) || pod != nil && len(pod.Claims) > 0
}

// mayBeDrained reports whether a node may be drained before an object goes.
func mayBeDrained(o *object.Object) bool {
	return o.Is(object.Node) || o.Kind == "Machine" && o.Group() == "cluster.x-k8s.io"
}

// nearby is how many namespaces are looked at one by one where all of them are refused.
const nearby = 5

// namespaces are the first namespaces that the objects are in, or are.
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

// mayBeConverted reports whether definitions of custom resources may matter: for what
// is one, or has one below it.
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

// groups are the objects by their kind, in the order of the first of each.
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

// called are the services in those namespaces in which the API server calls one, and
// their endpoints.
func (w *witness) called() []scene {
	return w.calledFor(func(*evidence.Webhook) bool { return true })
}

// calledFor is called, of the webhooks of admission only those that matter.
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
