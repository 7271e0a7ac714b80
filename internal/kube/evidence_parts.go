package kube

import (
	"context"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// clusterWide returns the parts in all namespaces.
func clusterWide(names ...health.Part) []namespacedPart {
	parts := make([]namespacedPart, len(names))
	for i, name := range names {
		parts[i].part = name
	}
	return parts
}

// relevantParts returns the parts that matter for what the objects wait for.
func (w *evidenceReader) relevantParts() []namespacedPart {
	parts := append(admissionParts(), clusterWide(health.APIServices, health.Leases, health.Namespaces)...)
	if w.anyObject(mayBeConverted) {
		parts = append(parts, namespacedPart{part: health.Definitions})
	}
	if w.anyObject(func(o *object.Object) bool { return o.Is(object.Pod) }) {
		parts = append(parts, namespacedPart{part: health.Nodes})
	}
	if w.anyObject(usesVolumes) {
		parts = append(parts, namespacedPart{part: health.Attachments})
	}
	if w.anyObject(mayBeDrained) {
		parts = append(parts, namespacedPart{part: health.Budgets})
	}
	parts = append(parts, w.consumerParts()...)
	if w.anyInUse {
		parts = append(parts, usageParts()...)
	}
	if w.anyObject(waitsForController) {
		return append(parts, controllerParts()...)
	}
	return parts
}

// admissionParts returns the parts that can refuse a request.
func admissionParts() []namespacedPart {
	return clusterWide(health.ValidatingWebhooks, health.MutatingWebhooks, health.Policies, health.PolicyBindings)
}

// consumerParts returns the parts with objects that may use one that a finalizer protects.
func (w *evidenceReader) consumerParts() []namespacedPart {
	var parts []namespacedPart
	if w.anyObject(func(o *object.Object) bool { return o.Kind == "GatewayClass" }) {
		parts = append(parts, namespacedPart{part: health.Gateways})
	}
	if w.anyObject(func(o *object.Object) bool { return o.Kind == "ResourceFlavor" }) {
		parts = append(parts, namespacedPart{part: health.ClusterQueues})
	}
	if w.anyObject(func(o *object.Object) bool { return o.Kind == "AppProject" }) {
		parts = append(parts, namespacedPart{part: health.Applications})
	}
	if w.anyObject(func(o *object.Object) bool { return o.Kind == "EC2NodeClass" }) {
		parts = append(parts, namespacedPart{part: health.NodeClaims})
	}
	return parts
}

// usageParts returns the parts with Crossplane's Usages.
func usageParts() []namespacedPart {
	return clusterWide(health.LegacyUsages, health.Usages, health.ClusterUsages)
}

// controllerParts returns the parts that show controllers, without leases.
func controllerParts() []namespacedPart {
	return clusterWide(
		health.Pods, health.Deployments, health.StatefulSets, health.DaemonSets,
		health.Roles, health.RoleBindings, health.ClusterRoles, health.ClusterBindings,
	)
}

// waitsForController reports whether an object waits for a controller, and not only for a kubelet,
// which pods do all the time.
func waitsForController(o *object.Object) bool {
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

// maxNamespaces is how many namespaces are read one by one if the cluster-wide list is forbidden.
const maxNamespaces = 5

// namespaces returns the first few namespaces of the objects, including objects that are
// namespaces.
func (w *evidenceReader) namespaces() []string {
	var names []string
	for _, o := range w.about {
		name := o.Namespace
		if o.Is(object.Namespace) {
			name = o.Name
		}
		if name != "" && !slices.Contains(names, name) && len(names) < maxNamespaces {
			names = append(names, name)
		}
	}
	return names
}

func (w *evidenceReader) anyObject(is func(*object.Object) bool) bool {
	return slices.ContainsFunc(w.about, is)
}

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

// groupByKind returns the objects by kind, in the order of the first object of each.
func (w *evidenceReader) groupByKind() [][]*object.Object {
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

// calledServices returns services and EndpointSlices in the namespaces of the services that the API
// server calls: those of APIServices, of conversions, and of the admission webhooks that matter.
func (w *evidenceReader) calledServices(matters func(*health.Webhook) bool) []namespacedPart {
	var namespaces []string
	add := func(s *health.ServiceRef) {
		if s != nil {
			namespaces = append(namespaces, s.Namespace)
		}
	}
	for _, a := range w.evidence.APIServices {
		add(a.Service)
	}
	for n := range w.evidence.Webhooks {
		if h := &w.evidence.Webhooks[n]; matters(h) {
			add(h.Client.Service)
		}
	}
	for _, d := range w.evidence.Definitions {
		if d.Conversion != nil {
			add(d.Conversion.Service)
		}
	}
	slices.Sort(namespaces)
	var parts []namespacedPart
	for _, ns := range slices.Compact(namespaces) {
		parts = append(parts, namespacedPart{health.Services, ns}, namespacedPart{health.Slices, ns})
	}
	return parts
}

// Reach is the set of objects that a request may affect.
type Reach struct {
	// Written are the objects that are deleted or changed.
	Written []*object.Object
	// Held are those of Written that wait for a controller outside of Kubernetes to remove a
	// finalizer.
	Held []*object.Object
	// Referrers are the parts, with their namespaces, that show what refers to objects of Written. An
	// empty namespace stands for all.
	Referrers map[health.Part][]string
}

// maxNamedReads is the largest number of nodes, or namespaces, that are read one by one. More are
// listed.
const maxNamedReads = 5

// Neighbours reads whether the other controllers work that take part when the objects of r are
// deleted or changed. It reads no more than can matter. Failed reads are marked in the evidence
// with the reason. It fails only if the context ends.
func (c *Client) Neighbours(ctx context.Context, r Reach) (*health.Evidence, error) {
	w := &evidenceReader{client: c, about: r.Held}
	w.evidence.Live = true
	if len(r.Written) == 0 && len(r.Referrers) == 0 {
		return &w.evidence, ctx.Err()
	}
	var tasks []func()
	started := map[namespacedPart]bool{}
	read := func(parts ...namespacedPart) {
		for _, s := range parts {
			if !started[s] {
				started[s] = true
				tasks = append(tasks, func() { w.readPart(ctx, s) })
			}
		}
	}
	for part, namespaces := range r.Referrers {
		for _, ns := range namespaces {
			read(namespacedPart{part, ns})
		}
	}
	if len(r.Written) > 0 {
		read(admissionParts()...)
	}
	if slices.ContainsFunc(r.Written, health.InUseByLabel) {
		read(usageParts()...)
	}
	if slices.ContainsFunc(r.Written, mayBeDrained) {
		read(namespacedPart{part: health.Budgets}) // a drain waits for their budgets
	}
	if slices.ContainsFunc(r.Written, hasContent) {
		read(namespacedPart{part: health.APIServices})
	}
	if slices.ContainsFunc(r.Written, func(o *object.Object) bool { return hasContent(o) || mayBeConverted(o) }) {
		read(namespacedPart{part: health.Definitions})
	}
	each := func(kind object.Kind, part health.Part, names []string) {
		if len(names) > maxNamedReads {
			read(namespacedPart{part: part})
			return
		}
		for _, name := range names {
			tasks = append(tasks, func() { w.readSingle(ctx, kind.Ref("", name)) })
		}
	}
	each(object.Node, health.Nodes, nodesOf(r.Written))
	each(object.Namespace, health.Namespaces, namespacesBeingDeleted(r.Written))
	switch {
	case len(r.Held) > 0:
		read(controllerParts()...)
		read(w.consumerParts()...)
		read(namespacedPart{part: health.Leases})
		for _, some := range w.groupByKind() {
			tasks = append(tasks, w.readObjects(ctx, some)...)
		}
	case slices.ContainsFunc(r.Written, func(o *object.Object) bool { return hasContent(o) || o.BeingDeleted() || len(r.Written) > 1 }):
		tasks = append(tasks, func() {
			w.readSingle(ctx, object.ManagerLease)
		})
	}
	runAll(tasks)
	tasks = nil
	read(w.calledServices(func(h *health.Webhook) bool { return !h.Ignored && mayMatch(h.Rules, r.Written) })...)
	if slices.ContainsFunc(w.evidence.Policies, func(p health.Policy) bool { return p.AsksForUser() && mayMatch(p.Constraints.Rules, r.Written) }) {
		tasks = append(tasks, func() { w.readUser(ctx) })
	}
	runAll(tasks)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return w.evidence.Sorted(), nil
}

// hasContent reports whether deleting an object deletes its content.
func hasContent(o *object.Object) bool {
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

// namespacesBeingDeleted returns the namespaces among the objects that are being deleted. Their
// conditions have the errors of the namespace controller.
func namespacesBeingDeleted(objects []*object.Object) []string {
	var names []string
	for _, o := range objects {
		if o.Is(object.Namespace) && o.BeingDeleted() {
			names = append(names, o.Name)
		}
	}
	return names
}

// mayMatch reports whether a webhook or policy with these rules may have to admit the delete
// or change of one of the objects. It ignores the resources in the rules: reading too much costs
// two requests, and missing a webhook would make the answer wrong.
func mayMatch(rules []health.WebhookRule, objects []*object.Object) bool {
	for _, rule := range rules {
		if !slices.ContainsFunc(rule.Operations, func(op string) bool {
			return op == "*" || strings.EqualFold(op, "DELETE") || strings.EqualFold(op, "UPDATE")
		}) {
			continue
		}
		if slices.Contains(rule.Groups, "*") || slices.ContainsFunc(objects, func(o *object.Object) bool { return hasContent(o) || slices.Contains(rule.Groups, o.Group()) }) {
			return true
		}
	}
	return false
}

// readSingle reads one object, or records that it does not exist. Other errors are ignored.
func (w *evidenceReader) readSingle(ctx context.Context, ref object.Ref) {
	raw, _, err := w.client.Raw(ctx, ref)
	if apierrors.IsNotFound(err) {
		w.markAbsent(ref)
	}
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.evidence.Add(ref.APIVersion, ref.Kind, raw)
}

// readUser reads the user of this client's requests. It stays unknown on errors.
func (w *evidenceReader) readUser(ctx context.Context) {
	user, err := w.client.whoAmI(ctx)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.evidence.User = &user
}

// maxOutsideGets is the number of objects of one kind and namespace that are read one by one. More
// are read with one list.
const maxOutsideGets = 3

// ReadOutside reads the fields that decide about the outside resources of objects. The result lacks
// objects that cannot be read, or that were replaced. The error is that of the context.
func (c *Client) ReadOutside(ctx context.Context, objects []*object.Object) (map[types.UID]*object.OutsideFacts, error) {
	places, of := map[string]Place{}, map[string][]*object.Object{}
	for _, o := range objects {
		if at, err := c.place(o.Ref); err == nil {
			places[at.about()] = at
			of[at.about()] = append(of[at.about()], o)
		}
	}
	found := map[types.UID]*object.OutsideFacts{}
	var mu sync.Mutex
	add := func(o *object.Object) {
		if facts := o.Outside(); facts != nil {
			mu.Lock()
			defer mu.Unlock()
			found[o.UID] = facts
		}
	}
	var tasks []func()
	for about, at := range places {
		if len(of[about]) > maxOutsideGets {
			tasks = append(tasks, func() {
				_, _ = c.List(ctx, at, Selection{Outside: true}, Listing{Object: func(o *object.Object) error {
					add(o)
					return nil
				}})
			})
			continue
		}
		for _, o := range of[about] {
			tasks = append(tasks, func() {
				if _, now, err := c.Raw(ctx, o.Ref); err == nil {
					add(now)
				}
			})
		}
	}
	runAll(tasks)
	return found, ctx.Err()
}
