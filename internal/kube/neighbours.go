package kube

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Reach is the set of objects that a request may affect.
type Reach struct {
	// Written are the objects that are deleted or changed.
	Written []*object.Object
	// Held are those of them that stay until a controller that is not part of Kubernetes removes a
	// finalizer.
	Held []*object.Object
}

// few is the largest number of nodes, or namespaces, that are read one by one. More are listed.
const few = 5

// Neighbours reads what shows whether the other controllers work that take part when these objects
// are deleted or changed. It reads no more than can matter. Failed reads are marked in the world
// with the reason. It fails only if the context ends.
func (c *Client) Neighbours(ctx context.Context, r Reach) (*evidence.World, error) {
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
	if slices.ContainsFunc(r.Written, evidence.InUseByLabel) {
		read(usages()...)
	}
	if slices.ContainsFunc(r.Written, func(o *object.Object) bool { return o.Is(object.Node) }) {
		read(scene{part: evidence.Budgets}) // a drain waits for their budgets
	}
	if slices.ContainsFunc(r.Written, contains) {
		read(scene{part: evidence.APIServices})
	}
	if slices.ContainsFunc(r.Written, func(o *object.Object) bool { return contains(o) || mayBeConverted(o) }) {
		read(scene{part: evidence.Definitions})
	}
	each := func(kind object.Kind, part evidence.Part, names []string) {
		if len(names) > few {
			read(scene{part: part})
			return
		}
		for _, name := range names {
			tasks = append(tasks, func() { w.single(ctx, kind.Ref("", name)) })
		}
	}
	each(object.Node, evidence.Nodes, nodesOf(r.Written))
	each(object.Namespace, evidence.Namespaces, goingOf(r.Written))
	switch {
	case len(r.Held) > 0:
		read(controllers()...)
		read(w.consumers()...)
		read(scene{part: evidence.Leases})
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
	read(w.calledFor(func(h *evidence.Webhook) bool { return !h.Ignored && mayAsk(h.Rules, r.Written) })...)
	if slices.ContainsFunc(w.world.Policies, func(p evidence.Policy) bool { return p.AsksForUser() && mayAsk(p.Constraints.Rules, r.Written) }) {
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
// change of one of the objects. It ignores the resources of rules: two more requests cost less than
// an error.
func mayAsk(rules []evidence.WebhookRule, objects []*object.Object) bool {
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
