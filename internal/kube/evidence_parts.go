package kube

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// scenesOf returns scenes of parts, in all namespaces.
func scenesOf(parts ...health.Part) []scene {
	scenes := make([]scene, len(parts))
	for i, p := range parts {
		scenes[i].part = p
	}
	return scenes
}

// scenes returns the parts that matter for what the objects wait for.
func (w *witness) scenes() []scene {
	scenes := append(admission(), scenesOf(health.APIServices, health.Leases, health.Namespaces)...)
	if w.any(mayBeConverted) {
		scenes = append(scenes, scene{part: health.Definitions})
	}
	if w.any(func(o *object.Object) bool { return o.Is(object.Pod) }) {
		scenes = append(scenes, scene{part: health.Nodes})
	}
	if w.any(usesVolumes) {
		scenes = append(scenes, scene{part: health.Attachments})
	}
	if w.any(mayBeDrained) {
		scenes = append(scenes, scene{part: health.Budgets})
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
	return scenesOf(health.ValidatingWebhooks, health.MutatingWebhooks, health.Policies, health.PolicyBindings)
}

// consumers returns the parts with objects that may use one that a finalizer protects.
func (w *witness) consumers() []scene {
	var scenes []scene
	if w.any(func(o *object.Object) bool { return o.Kind == "GatewayClass" }) {
		scenes = append(scenes, scene{part: health.Gateways})
	}
	if w.any(func(o *object.Object) bool { return o.Kind == "ResourceFlavor" }) {
		scenes = append(scenes, scene{part: health.ClusterQueues})
	}
	return scenes
}

// usages returns the parts with Crossplane's Usages.
func usages() []scene {
	return scenesOf(health.LegacyUsages, health.Usages, health.ClusterUsages)
}

// controllers returns the parts that show controllers, without leases.
func controllers() []scene {
	return scenesOf(
		health.Pods, health.Deployments, health.StatefulSets, health.DaemonSets,
		health.Roles, health.RoleBindings, health.ClusterRoles, health.ClusterBindings,
	)
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
	return w.calledFor(func(*health.Webhook) bool { return true })
}

// calledFor is like called, for the admission webhooks that matter.
func (w *witness) calledFor(matters func(*health.Webhook) bool) []scene {
	var namespaces []string
	add := func(s *health.ServiceRef) {
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
		scenes = append(scenes, scene{health.Services, ns}, scene{health.Slices, ns})
	}
	return scenes
}

// Reach is the set of objects that a request may affect.
type Reach struct {
	// Written are the objects that are deleted or changed.
	Written []*object.Object
	// Held are those of Written that wait for a controller outside of Kubernetes to remove a
	// finalizer.
	Held []*object.Object
}

// few is the largest number of nodes, or namespaces, that are read one by one. More are listed.
const few = 5

// Neighbours reads whether the other controllers work that take part when the objects of r are
// deleted or changed. It reads no more than can matter. Failed reads are marked in the evidence
// with the reason. It fails only if the context ends.
func (c *Client) Neighbours(ctx context.Context, r Reach) (*health.Evidence, error) {
	w := &witness{client: c, about: r.Held}
	w.world.Live = true
	if len(r.Written) == 0 {
		return &w.world, ctx.Err()
	}
	var tasks []func()
	read := func(scenes ...scene) {
		for _, s := range scenes {
			tasks = append(tasks, func() { w.part(ctx, s) })
		}
	}
	read(admission()...)
	if slices.ContainsFunc(r.Written, health.InUseByLabel) {
		read(usages()...)
	}
	if slices.ContainsFunc(r.Written, func(o *object.Object) bool { return o.Is(object.Node) }) {
		read(scene{part: health.Budgets}) // a drain waits for their budgets
	}
	if slices.ContainsFunc(r.Written, contains) {
		read(scene{part: health.APIServices})
	}
	if slices.ContainsFunc(r.Written, func(o *object.Object) bool { return contains(o) || mayBeConverted(o) }) {
		read(scene{part: health.Definitions})
	}
	each := func(kind object.Kind, part health.Part, names []string) {
		if len(names) > few {
			read(scene{part: part})
			return
		}
		for _, name := range names {
			tasks = append(tasks, func() { w.single(ctx, kind.Ref("", name)) })
		}
	}
	each(object.Node, health.Nodes, nodesOf(r.Written))
	each(object.Namespace, health.Namespaces, goingOf(r.Written))
	switch {
	case len(r.Held) > 0:
		read(controllers()...)
		read(w.consumers()...)
		read(scene{part: health.Leases})
		for _, some := range w.groups() {
			tasks = append(tasks, w.whole(ctx, some)...)
		}
	case slices.ContainsFunc(r.Written, func(o *object.Object) bool { return contains(o) || o.BeingDeleted() || len(r.Written) > 1 }):
		tasks = append(tasks, func() {
			w.single(ctx, object.ManagerLease)
		})
	}
	besides(tasks)
	tasks = nil
	read(w.calledFor(func(h *health.Webhook) bool { return !h.Ignored && mayAsk(h.Rules, r.Written) })...)
	if slices.ContainsFunc(w.world.Policies, func(p health.Policy) bool { return p.AsksForUser() && mayAsk(p.Constraints.Rules, r.Written) }) {
		tasks = append(tasks, func() { w.user(ctx) })
	}
	besides(tasks)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return w.world.Sorted(), nil
}

// contains reports whether deleting an object deletes its content.
func contains(o *object.Object) bool {
	return o.Is(object.Namespace) || o.Definition() != nil
}

// nodesOf returns the nodes among the objects, and the nodes of pods among them, sorted.
func nodesOf(objects []*object.Object) []string {
	var names []string
	for _, o := range objects {
		if o.Is(object.Node) {
			names = append(names, o.Name)
		} else if pod := o.Pod(); pod != nil && pod.NodeName != "" {
			names = append(names, pod.NodeName)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// goingOf returns the namespaces among the objects that are being deleted. Their conditions have
// the errors of the namespace controller.
func goingOf(objects []*object.Object) []string {
	var names []string
	for _, o := range objects {
		if o.Is(object.Namespace) && o.BeingDeleted() {
			names = append(names, o.Name)
		}
	}
	return names
}

// mayAsk reports whether a webhook or policy with these rules may have to admit the delete or
// change of one of the objects. It ignores the resources in the rules: reading too much costs two
// requests, and missing a webhook would make the answer wrong.
func mayAsk(rules []health.WebhookRule, objects []*object.Object) bool {
	for _, rule := range rules {
		if !slices.ContainsFunc(rule.Operations, func(op string) bool {
			return op == "*" || strings.EqualFold(op, "DELETE") || strings.EqualFold(op, "UPDATE")
		}) {
			continue
		}
		if slices.Contains(rule.Groups, "*") || slices.ContainsFunc(objects, func(o *object.Object) bool { return contains(o) || slices.Contains(rule.Groups, o.Group()) }) {
			return true
		}
	}
	return false
}

// single reads one object, or records that it does not exist. Other errors are ignored.
func (w *witness) single(ctx context.Context, ref object.Ref) {
	raw, _, err := w.client.Raw(ctx, ref)
	if apierrors.IsNotFound(err) {
		w.missed(ref)
	}
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.world.Add(ref.APIVersion, ref.Kind, raw)
}

// user reads the user of this client's requests. It stays unknown on errors.
func (w *witness) user(ctx context.Context) {
	user, err := w.client.user(ctx)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.world.User = &user
}
