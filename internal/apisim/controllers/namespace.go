package controllers

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// NamespaceName names the controller that empties namespaces.
const NamespaceName = "namespace-controller"

// namespaceAssumption must hold for the deletion of a namespace.
const namespaceAssumption = "the namespace controller runs and can discover and delete every kind in the namespace"

const (
	// namespaceToken is the namespace controller's entry in spec.finalizers.
	namespaceToken       = "kubernetes"
	namespaceTerminating = "Terminating"
)

// NamespaceController returns the controller that empties namespaces that are being deleted. With
// release.OrderedNamespaces it deletes pods first, then everything else; otherwise all at once. The
// policy is Background, whatever finalizers of the collector the objects have. When nothing is
// left, it removes its token from spec.finalizers. The last token's removal deletes the namespace
// unless metadata.finalizers hold it.
//
// The token stays if content may be left: a namespaced kind is not covered in the namespace, or the
// definitions of custom resources are not covered, so that a kind may be unknown. A caller that
// knows the kinds from discovery, or regards one as harmless, must say so in its coverage. A nil
// coverage means that the snapshot is complete.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go namespacedResourcesDeleter.Delete.
// Rule: spec §5.2, §5.3, S200–S220.
func NamespaceController(c Coverage, r release.Rules) Controller {
	return &namespaces{coverage: orComplete(c), rules: r}
}

type namespaces struct {
	coverage Coverage
	rules    release.Rules
	waits    []Wait
}

func (*namespaces) Name() string       { return NamespaceName }
func (*namespaces) Assumption() string { return namespaceAssumption }
func (n *namespaces) Waiting() []Wait  { return n.waits }

// Step makes one pass over each namespace that is being deleted.
func (n *namespaces) Step(ctx context.Context, w World) (bool, error) {
	p, there := begin(ctx, w, NamespaceName), lost{w: w}
	for _, ns := range w.ObjectsOf(object.Namespace.GroupResource(), "") {
		if ctx.Err() != nil {
			break
		}
		if ns.BeingDeleted() && len(tokensOf(ns)) > 0 {
			c := content{pass: p, coverage: n.coverage, rules: n.rules, namespace: ns, lost: &there}
			c.empty()
		}
	}
	return p.end(&n.waits)
}

// empty makes one pass over one namespace.
func (c *content) empty() {
	if !c.terminate() || !c.deleteAll() {
		return
	}
	if !slices.Contains(tokensOf(c.namespace), namespaceToken) {
		c.waitForTokens(c.namespace)
		return
	}
	next := c.namespace.Clone()
	facts := object.NamespaceFacts{Phase: namespaceTerminating}
	for _, token := range slices.Compact(slices.Sorted(slices.Values(tokensOf(c.namespace)))) {
		if token != namespaceToken {
			facts.Finalizers = append(facts.Finalizers, token)
		}
	}
	next.Edit().Facts = &facts
	_, err := c.w.Finalize(c.ctx, next)
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
	stored, err := c.w.Update(c.ctx, next)
	c.refused(c.namespace.Ref, object.Resource{}, err)
	if err != nil {
		return false
	}
	c.namespace = stored
	return true
}

func (c *content) waitForTokens(ns *object.Object) {
	w := Wait{Object: ns.Ref, Reason: TokensRemain}
	for _, token := range slices.Compact(slices.SortedFunc(slices.Values(tokensOf(ns)), strings.Compare)) {
		w.Finalizers = append(w.Finalizers, FinalizerCount{Name: token, Objects: 1})
	}
	c.wait(w)
}

// tokensOf returns the spec.finalizers of a namespace. Without facts, the namespace controller is
// assumed not to have emptied it yet.
func tokensOf(ns *object.Object) []string {
	if facts := ns.NamespaceFacts(); facts != nil {
		return facts.Finalizers
	}
	return []string{namespaceToken}
}
