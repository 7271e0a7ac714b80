package controllers

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// NamespaceName names the controller that empties namespaces.
const NamespaceName = "namespace-controller"

const namespaceTerminating = "Terminating"

// NamespaceController returns the controller that empties namespaces that are being deleted. With
// release.OrderedNamespaces it deletes pods first, then everything else; otherwise all at once. The
// policy is Background, whatever finalizers of the collector the objects have. When nothing is
// left, it removes its token from spec.finalizers. The last token's removal deletes the namespace
// unless metadata.finalizers hold it.
//
// The token stays if content may be left: a namespaced kind is not covered in the namespace, or the
// definitions of custom resources are not covered, so that a kind may be unknown. A caller that
// knows the kinds from discovery, or regards one as harmless, must say so in its coverage.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go namespacedResourcesDeleter.Delete.
// Rule: spec §5.2, §5.3, S200–S220.
func NamespaceController(c Coverage, r release.Rules) Controller {
	return &namespaces{
		identity: identity{name: NamespaceName, assumption: "the namespace controller runs and can discover and delete every kind in the namespace"},
		coverage: c,
		rules:    r,
	}
}

type namespaces struct {
	identity

	coverage Coverage
	rules    release.Rules
}

// Step makes one pass over each namespace that is being deleted.
func (n *namespaces) Step(ctx context.Context, w World, send Send) (bool, error) {
	p, there := n.begin(ctx, w, send), lost{w: w}
	for _, ns := range w.ObjectsOf(object.Namespace.GroupResource(), "") {
		if ctx.Err() != nil {
			break
		}
		if ns.BeingDeleted() && len(ns.NamespaceTokens()) > 0 {
			c := content{pass: p, coverage: n.coverage, rules: n.rules, namespace: ns, lost: &there}
			c.empty()
		}
	}
	return p.end()
}

// empty makes one pass over one namespace.
func (c *content) empty() {
	if !c.terminate() || !c.deleteAll() {
		return
	}
	if !slices.Contains(c.namespace.NamespaceTokens(), object.NamespaceToken) {
		c.waitForTokens(c.namespace)
		return
	}
	next := c.namespace.Clone()
	facts := object.NamespaceFacts{Phase: namespaceTerminating}
	for _, token := range slices.Compact(slices.Sorted(slices.Values(c.namespace.NamespaceTokens()))) {
		if token != object.NamespaceToken {
			facts.Finalizers = append(facts.Finalizers, token)
		}
	}
	next.Edit().Facts = &facts
	_, err := c.send(c.ctx, Intent{Verb: Finalize, For: next.Ref, Ref: next.Ref, Object: next})
	c.refused(c.namespace.Ref, object.Resource{}, err)
	if err == nil && len(facts.Finalizers) > 0 {
		c.waitForTokens(next)
	}
}

// terminate sets the phase Terminating if necessary, and reports whether the pass can continue.
// (spec §5.2 step 2, S215)
func (c *content) terminate() bool {
	facts := c.namespace.NamespaceFacts()
	if facts == nil || facts.Phase == namespaceTerminating {
		return true
	}
	next := c.namespace.Clone()
	next.Edit().Facts = &object.NamespaceFacts{Phase: namespaceTerminating, Finalizers: facts.Finalizers}
	stored, err := c.update(next)
	c.refused(c.namespace.Ref, object.Resource{}, err)
	if err != nil {
		return false
	}
	c.namespace = stored
	return true
}

func (c *content) waitForTokens(ns *object.Object) {
	w := Wait{Object: ns.Ref, Reason: TokensRemain}
	for _, token := range slices.Compact(slices.SortedFunc(slices.Values(ns.NamespaceTokens()), strings.Compare)) {
		w.Finalizers = append(w.Finalizers, FinalizerCount{Name: token, Objects: 1})
	}
	c.wait(w)
}

// content is the content of one namespace that is being deleted.
type content struct {
	*pass
	coverage  Coverage
	rules     release.Rules
	namespace *object.Object
	lost      *lost
	// open is true if something is left or may be left.
	open bool
}

// deleteAll deletes the content and reports whether it is known that nothing is left.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent:
// takes the resources in random order.
// Rule: spec §5.3.
func (c *content) deleteAll() bool {
	undiscovered := c.undiscovered()
	if r, ok := c.w.Resources().Preferred(object.Pod.GroupResource()); ok && c.deleteOf(r) > 0 && c.podsFirst() {
		return false
	}
	for _, r := range contentOf(c.w.Resources()) {
		if c.ctx.Err() != nil {
			return false
		}
		c.deleteOf(r)
	}
	for _, w := range undiscovered {
		c.leave(w)
	}
	c.checkKinds()
	return !c.open && c.ctx.Err() == nil
}

// podsFirst reports whether the namespace controller deletes all pods before anything else.
func (c *content) podsFirst() bool { return c.rules.Follow(release.OrderedNamespaces) }

// contentOf returns the resources that the namespace controller deletes, except pods, by group and
// name.
func contentOf(rs *object.Resources) []object.Resource {
	var list []object.Resource
	for _, r := range rs.Sorted() {
		preferred, _ := rs.Preferred(r.GroupResource())
		if r.Namespaced && r.Version == preferred.Version && r.Verbs.Has(object.Delete) && r.GroupResource() != object.Pod.GroupResource() {
			list = append(list, r)
		}
	}
	return list
}

// deleteOf deletes the objects of one resource and returns how many are known to be left. It
// returns 0 after a refused request, so that refused pods don't delay the rest.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContentForGroupVersionResource.
func (c *content) deleteOf(r object.Resource) (left int) {
	if !c.coverage.Covers(r, c.namespace.Name) && !c.unserved(r) {
		c.leave(Wait{Object: c.namespace.Ref, Reason: NotCovered, Resource: r, Why: c.coverage.Why(r, c.namespace.Name)})
	}
	if len(c.of(r)) == 0 {
		return 0
	}
	if err := c.request(r); err != nil {
		w := remaining(c.namespace.Ref, Refused, r, c.of(r))
		w.Why = err.Error()
		c.leave(w)
		return 0
	}
	objects := c.of(r)
	if len(objects) == 0 || !r.Verbs.Has(object.List) {
		return 0
	}
	why := ContentRemains
	if r.GroupResource() == object.Pod.GroupResource() && c.podsFirst() {
		why = PodsRemain
	}
	c.leave(remaining(c.namespace.Ref, why, r, objects))
	return len(objects)
}

// request deletes the collection, or each object if the resource has no deletecollection. The
// policy is Background, which removes the collector's finalizers.
func (c *content) request(r object.Resource) error {
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background}
	if r.Verbs.Has(object.DeleteCollection) {
		_, err := c.send(c.ctx, Intent{Verb: DeleteCollection, For: c.namespace.Ref, Resource: r, Namespace: c.namespace.Name, Options: options})
		if !unsupported(err) {
			return err
		}
	}
	if !r.Verbs.Has(object.List) {
		return nil
	}
	for _, o := range c.of(r) {
		if _, err := c.send(c.ctx, Intent{Verb: Delete, For: c.namespace.Ref, Ref: o.Ref, Options: options}); err != nil && !unsupported(err) {
			return err
		}
	}
	return nil
}

// unsupported reports whether the server doesn't support such a request for the resource.
func unsupported(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

func (c *content) of(r object.Resource) []*object.Object {
	return c.w.ObjectsOf(r.GroupResource(), c.namespace.Name)
}

// leave records why the namespace stays.
func (c *content) leave(w Wait) {
	c.open = true
	c.wait(w)
}

// unserved reports whether the server has no path for the resource. The namespace controller then
// counts it as empty. (S213)
func (c *content) unserved(r object.Resource) bool {
	d, ok := c.coverage.(Discovery)
	return ok && d.Unserved(r, c.namespace.Name)
}

// undiscovered returns a wait for each API version with resources that the server cannot list. One of them
// keeps the namespace, even if it has no objects there. An API that goes with the content was still listed.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent:
// discovers before it deletes, and keeps the error to its end.
// Rule: S212.
func (c *content) undiscovered() (list []Wait) {
	d, ok := c.coverage.(Discovery)
	if !ok {
		return nil
	}
	for _, u := range d.Undiscovered() {
		w := Wait{Object: c.namespace.Ref, Reason: DiscoveryFails, Why: u.APIVersion + ": " + u.Why}
		if u.Hidden {
			w.Reason = NotCovered
		}
		list = append(list, w)
	}
	return list
}

// checkKinds records content that deleteOf cannot see: objects of kinds that no resource serves,
// and custom resources if the snapshot may lack definitions.
func (c *content) checkKinds() {
	if !c.coverage.Covers(object.CRD.Resource(), "") {
		c.leave(Wait{Object: c.namespace.Ref, Reason: NotCovered, Resource: object.CRD.Resource(), Why: c.coverage.Why(object.CRD.Resource(), "")})
	}
	if c.open {
		return // blocked already: scanning all objects is unnecessary
	}
	if there := c.lost.in(c.namespace.Name); len(there) > 0 {
		c.leave(remaining(c.namespace.Ref, NotServed, object.Resource{}, there))
	}
}

// lost holds the objects of kinds that no resource serves. No request of a pass changes them, so
// they are collected once per pass, on first use.
type lost struct {
	w  World
	by map[string][]*object.Object
}

// in returns those in a namespace.
func (l *lost) in(namespace string) []*object.Object {
	if l.by == nil {
		l.by = map[string][]*object.Object{}
		for _, o := range l.w.Objects() {
			if !served(l.w.Resources(), o.Ref) {
				l.by[o.Namespace] = append(l.by[o.Namespace], o)
			}
		}
	}
	return l.by[namespace]
}

// served reports whether requests can reach an object.
func served(rs *object.Resources, ref object.Ref) bool {
	r, err := rs.For(ref.APIVersion, ref.Kind)
	return err == nil && r.Served()
}
